import { useState } from 'react'
import type { Stage } from '../../../app/trace/stages.ts'
import { useViewKeys } from '../../controls/use-view-keys.ts'
import { useCanvas } from '../../drawing/canvas.ts'
import { useSelection } from '../../state/selection.ts'
import { useTheme } from '../../theme/use-theme.ts'
import { drawTimeline } from './draw.ts'
import { HoverCard } from './HoverCard.tsx'
import { itemAtTime, neighbourOf, timeOf } from './items.ts'
import { isHeldKey, useHeldKeys } from './keys.ts'
import { lanesOf } from './lanes.ts'
import type { TimeRange } from './range.ts'
import type { Area, HoveredItem, StepColumns } from './scene.ts'
import type { TilePiece } from './tiles.ts'
import { type Hover, useGestures } from './use-gestures.ts'
import type { RangeControl } from './use-range.ts'

interface Props {
  readonly run: string
  readonly ranks: number
  readonly control: RangeControl
  readonly pieces: readonly TilePiece[]
  readonly steps: StepColumns | null
  readonly dimmed: ReadonlySet<Stage>
  readonly area: Area | null
  readonly setArea: (area: Area | null) => void
  readonly setWidth: (width: number) => void
}

export const TimelineCanvas = (props: Props) => {
  const { run, ranks, control, pieces, steps, dimmed, area, setArea, setWidth } = props
  const theme = useTheme()
  const { rank, step, timeNs, select } = useSelection()
  const [size, setSize] = useState({ width: 800, height: 400 })
  const [scroll, setScroll] = useState(0)
  const [hover, setHover] = useState<Hover | null>(null)
  const lanes = lanesOf(size.height, ranks, scroll)
  const selected = rank === null || timeNs === null ? null : itemAtTime(rank, timeNs, pieces)

  const pick = (item: HoveredItem | null, on: number | null): void => {
    if (item === null) {
      select({ rank: on, timeNs: null })
      return
    }
    select({
      rank: item.rank,
      step: item.step,
      timeNs: timeOf(item),
      ...(item.layer < 0 ? {} : { layer: item.layer }),
    })
  }

  const canvas = useCanvas(
    (ctx, width, height) => {
      if (width !== size.width || height !== size.height) setSize({ width, height })
      setWidth(Math.max(1, width - lanes.labelWidth))
      drawTimeline(ctx, width, height, theme, {
        range: control.range,
        lanes: lanesOf(height, ranks, scroll),
        pieces,
        steps,
        dimmed,
        selectedRank: rank,
        selectedStep: step,
        selected,
        hovered: hover?.item ?? null,
        area,
      })
    },
    [
      theme,
      size,
      control.range.startNs,
      control.range.endNs,
      ranks,
      scroll,
      pieces,
      steps,
      dimmed,
      rank,
      step,
      timeNs,
      hover,
      area,
    ],
  )
  const handlers = useGestures({
    canvas,
    control,
    lanes,
    pieces,
    setHover,
    onPick: pick,
    onArea: setArea,
    onScroll: (pixels) => setScroll(lanes.scroll + pixels),
  })

  const held = useHeldKeys(({ zoom, pan }) => {
    if (zoom !== 1) control.zoom(zoom)
    if (pan !== 0) control.pan(pan)
  })
  const partOf = (item: HoveredItem): TimeRange => ({
    startNs: item.startNs,
    endNs: item.startNs + item.durNs,
  })
  const goTo = (item: HoveredItem | null): boolean => {
    if (item === null) return false
    pick(item, item.rank)
    control.reveal(partOf(item))
    return true
  }
  const onOtherRank = (direction: 1 | -1): boolean => {
    const next = rank === null ? 0 : (rank + direction + ranks) % ranks
    const item = timeNs === null ? null : itemAtTime(next, timeNs, pieces)
    select(item === null ? { rank: next } : { rank: next, timeNs })
    return true
  }
  const markArea = (): boolean => {
    if (selected === null) return false
    setArea({ range: partOf(selected), ranks: [selected.rank] })
    return true
  }
  const focus = (): boolean => {
    const part = area?.range ?? (selected === null ? null : partOf(selected))
    if (part === null) return false
    const margin = (part.endNs - part.startNs) * 0.1
    control.show({ startNs: part.startNs - margin, endNs: part.endNs + margin })
    return true
  }
  useViewKeys((event) => {
    if (isHeldKey(event.code)) {
      held.press(event.code)
      return true
    }
    switch (event.code) {
      case 'Digit0':
        control.fit()
        return true
      case 'Backspace':
        control.back()
        return true
      case 'KeyF':
        return focus()
      case 'KeyR':
        return markArea()
      case 'KeyN':
        return onOtherRank(1)
      case 'KeyP':
        return onOtherRank(-1)
      case 'Period':
      case 'ArrowRight':
        return goTo(selected === null ? null : neighbourOf(selected.rank, selected, 1, pieces))
      case 'Comma':
      case 'ArrowLeft':
        return goTo(selected === null ? null : neighbourOf(selected.rank, selected, -1, pieces))
      case 'Escape':
        if (area === null) return false
        setArea(null)
        return true
      default:
        return false
    }
  })

  return (
    <div className="timeline-picture">
      <canvas
        ref={canvas}
        className="timeline-canvas"
        data-testid="timeline-canvas"
        role="img"
        tabIndex={0}
        aria-label={`Stages of ${ranks} ranks over time; W and S zoom, A and D pan, comma and period move along a rank, n and p between ranks`}
        {...handlers}
      />
      <p className="visually-hidden" aria-live="polite">
        {selected === null ? '' : `${selected.stage} of rank ${selected.rank}, step ${selected.step}`}
      </p>
      {hover === null ? null : (
        <HoverCard
          run={run}
          item={hover.item}
          x={hover.x}
          y={hover.y}
          width={size.width}
          height={size.height}
        />
      )}
    </div>
  )
}
