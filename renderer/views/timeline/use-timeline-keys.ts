import { useViewKeys } from '../../controls/use-view-keys.ts'
import { tell } from '../../state/messages.ts'
import { movedBy, toggleAllFolded, toggleFolded, togglePinned } from './arrangement.ts'
import { isHeldKey, useHeldKeys } from './keys.ts'
import { type LookControl, toggledMark } from './look.ts'
import { measuresOf, measureText } from './measure.ts'
import { usePanels } from './panel/panels.ts'
import { type TimeRange, withMargin } from './range.ts'
import type { HoveredItem } from './scene.ts'
import type { ArrangementControl } from './use-arrangement.ts'
import type { Picking } from './use-picking.ts'
import { partOf } from './use-picking.ts'
import type { RangeControl } from './use-range.ts'

interface Ground {
  readonly ranks: number
  /** The selected rank. */
  readonly rank: number | null
  readonly arrangementControl: ArrangementControl
  readonly lookControl: LookControl
  readonly control: RangeControl
  readonly picking: Picking
  readonly selected: HoveredItem | null
  /** The selected step's part of time. */
  readonly step: TimeRange | null
  /** Where the places of spans in time come from, if they were not measured. */
  readonly placed: string | undefined
  readonly onNote: () => void
  /** Time under the pointer. */
  readonly pointerNs: number | null
  /** Time that a few pixels stand for. */
  readonly nearNs: number
}

/** The keys of the view; their list for people is in shell/view-keys.ts. */
export const useTimelineKeys = (ground: Ground): void => {
  const { lookControl, control, picking, selected, step, pointerNs } = ground
  const { look, change } = lookControl
  const held = useHeldKeys(({ zoom, pan }) => {
    if (zoom !== 1) control.zoom(zoom)
    if (pan !== 0) control.pan(pan)
  })

  const focus = (): boolean => {
    const part = look.area?.range ?? (selected === null ? step : partOf(selected))
    if (part === null) return false
    control.show(withMargin(part))
    return true
  }
  const markArea = (): boolean => {
    const all = Array.from({ length: ground.ranks }, (_, rank) => rank)
    const area =
      selected === null
        ? { range: step ?? control.range, ranks: all }
        : { range: partOf(selected), ranks: [selected.rank] }
    change(() => ({ area }))
    return true
  }
  const mark = (all: boolean): boolean => {
    if (all) change(() => ({ marks: [] }))
    const ns = pointerNs ?? selected?.startNs
    // The start of a span is meant exactly, however many lie within a pixel.
    const nearNs = pointerNs === null ? 0 : ground.nearNs
    if (!all && ns !== undefined) change((l) => ({ marks: toggledMark(l.marks, ns, nearNs) }))
    return true
  }
  const copyMeasure = (): boolean => {
    const measure = measuresOf(look.marks).at(-1)
    if (measure === undefined) return false
    const text = measureText(measure, ground.placed)
    navigator.clipboard.writeText(text).then(
      () => tell('info', `Copied: ${text}`),
      (error: unknown) =>
        tell('error', `Nothing was copied: ${error instanceof Error ? error.message : String(error)}`),
    )
    return true
  }
  const lane = ground.arrangementControl
  /** Moves the lane of the selected rank, or goes to the next one. */
  const laneKey = (by: 1 | -1, moves: boolean): boolean => {
    const { rank } = ground
    if (!moves) picking.pickOtherRank(by)
    else if (rank !== null) lane.change((now) => movedBy(now, ground.ranks, rank, by))
    return true
  }
  const pin = (): boolean => {
    const { rank } = ground
    if (rank !== null) lane.change((now) => togglePinned(now, rank))
    return true
  }
  const fold = (all: boolean): boolean => {
    const { rank, ranks } = ground
    lane.change((now) => (all || rank === null ? toggleAllFolded(now, ranks) : toggleFolded(now, rank)))
    return true
  }
  const done = (act: () => void): boolean => {
    act()
    return true
  }

  useViewKeys((event) => {
    const { code } = event
    if (isHeldKey(code)) return done(() => held.press(code))
    switch (code) {
      case 'Digit0':
      case 'Numpad0':
        return done(control.fit)
      case 'Backspace':
        return done(control.back)
      case 'KeyF':
        return focus()
      case 'KeyR':
        return markArea()
      case 'KeyM':
        return mark(event.shiftKey)
      case 'KeyC':
        return copyMeasure()
      case 'KeyV':
        return done(() => usePanels.getState().toggle('drawn'))
      case 'KeyE':
        return done(ground.onNote)
      case 'KeyL':
        return done(() => change((l) => ({ flows: !l.flows })))
      case 'KeyK':
        return done(() => usePanels.getState().toggle('path'))
      case 'KeyT':
        return event.shiftKey ? pin() : done(() => usePanels.getState().toggle('stats'))
      case 'KeyG':
        return fold(event.shiftKey)
      case 'ArrowDown':
        return laneKey(1, event.shiftKey)
      case 'ArrowUp':
        return laneKey(-1, event.shiftKey)
      case 'KeyN':
        return done(() => picking.pickOtherRank(1))
      case 'KeyP':
        return done(() => picking.pickOtherRank(-1))
      case 'Period':
      case 'ArrowRight':
        return done(() => picking.pickBeside(1))
      case 'Comma':
      case 'ArrowLeft':
        return done(() => picking.pickBeside(-1))
      case 'Escape':
        if (look.area === null) return false
        return done(() => change(() => ({ area: null })))
      default:
        return false
    }
  })
}
