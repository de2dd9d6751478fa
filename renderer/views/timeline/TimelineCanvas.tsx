import { useMemo, useRef, useState } from 'react'
import { isNoteOf, type Note } from '../../../app/trace/notes.ts'
import { useCanvas } from '../../drawing/canvas.ts'
import { formatNs } from '../../drawing/format.ts'
import { sourceNote, withSource } from '../../drawing/provenance.ts'
import { useSelection } from '../../state/selection.ts'
import { useTheme } from '../../theme/use-theme.ts'
import { movedTo } from './arrangement.ts'
import { drawTimeline } from './draw.ts'
import type { Plate } from './draw-spans.ts'
import { type EventMark, markAtPoint } from './event-marks.ts'
import { flowsIn } from './flows.ts'
import { HoverCard } from './HoverCard.tsx'
import { itemAtPoint, itemAtTime } from './items.ts'
import { lanesOf, scrollToLane } from './lanes.ts'
import type { LookControl } from './look.ts'
import { MarkCard } from './MarkCard.tsx'
import { snapped } from './measure.ts'
import { type TimeRange, timeAtX } from './range.ts'
import type { HoveredItem, Meeting, PathColumns, StepColumns } from './scene.ts'
import type { TilePiece } from './tiles.ts'
import type { ArrangementControl } from './use-arrangement.ts'
import { type Point, useGestures } from './use-gestures.ts'
import { usePicking } from './use-picking.ts'
import type { RangeControl } from './use-range.ts'
import { useTimelineKeys } from './use-timeline-keys.ts'

interface Props {
  readonly run: string
  readonly ranks: number
  readonly lookControl: LookControl
  readonly control: RangeControl
  readonly pieces: readonly TilePiece[]
  readonly steps: StepColumns | null
  readonly stepPart: TimeRange | null
  /** The critical path of the selected step, where it is asked for. */
  readonly path: PathColumns | null
  /** Whether the run records kernels: each rank has a lane for them. */
  readonly kernels: boolean
  /** Whether it replays graphs: each rank has a row of replays. */
  readonly replays: boolean
  readonly arrangementControl: ArrangementControl
  /** The kernel that is selected. */
  readonly pickedKernel: HoveredItem | null
  /** The selected span as the store has it. */
  readonly span: HoveredItem | null
  /** The worst first. */
  readonly events: readonly EventMark[]
  readonly notes: readonly Note[]
  /** Goes to the field of the note of the selected span. */
  readonly onNote: () => void
  /** The selected collective with all its ranks. */
  readonly meeting: Meeting | null
  /** Where the places of spans in time come from, if they were not measured. */
  readonly placed: string | undefined
  readonly setWidth: (width: number) => void
  readonly onTrouble: (sentence: string | null) => void
}

/** Pixels within which a mark is hit, and from which it goes to the edge of a span or step. */
const MARK_SLACK = 5

const selectedText = (item: HoveredItem | null): string =>
  item === null
    ? ''
    : `${item.stage} of rank ${item.rank}, step ${item.step}${item.layer < 0 ? '' : `, layer ${item.layer}`}, ${withSource(formatNs(item.durNs), sourceNote(item.sources))}`

export const TimelineCanvas = (props: Props) => {
  const { run, ranks, lookControl, control, pieces, steps, span, kernels, pickedKernel, setWidth } = props
  const { look, change } = lookControl
  const { range } = control
  const theme = useTheme()
  const { rank, step, timeNs, select } = useSelection()
  const [size, setSize] = useState({ width: 800, height: 400 })
  const [pointer, setPointer] = useState<Point | null>(null)
  const [zoomBox, setZoomBox] = useState<TimeRange | null>(null)
  const plate = useRef<Plate | null>(null)
  const { arrangement } = props.arrangementControl
  const lanes = lanesOf(size.height, ranks, look.scroll, kernels, { replays: props.replays, arrangement })
  const plot = Math.max(1, size.width - lanes.labelWidth)
  const selected = span ?? (rank === null || timeNs === null ? null : itemAtTime(rank, timeNs, pieces))
  const markUnder = ({ x, y }: Point): EventMark | null =>
    markAtPoint(props.events, x - lanes.labelWidth, y, range, lanes, plot)
  const hoveredMark = pointer === null ? null : markUnder(pointer)
  const hovered =
    pointer === null || hoveredMark !== null
      ? null
      : itemAtPoint(pointer.x - lanes.labelWidth, pointer.y, plot, range, lanes, pieces)

  const flows = useMemo(() => (look.flows ? flowsIn(pieces) : []), [look.flows, pieces])

  const canvas = useCanvas(
    (ctx, width, height, dpr) => {
      if (width !== size.width || height !== size.height) setSize({ width, height })
      setWidth(Math.max(1, width - lanes.labelWidth))
      const scene = {
        range,
        lanes,
        pieces,
        steps,
        dimmed: look.dimmed,
        selectedRank: rank,
        selectedStep: step,
        selected,
        hovered,
        pickedKernel,
        events: props.events,
        notes: props.notes,
        flows,
        meeting: props.meeting,
        path: props.path,
        area: look.area,
        zoomBox,
        marks: look.marks,
      }
      plate.current = drawTimeline(ctx, width, height, dpr, theme, scene, plate.current)
    },
    [
      theme,
      size,
      range.startNs,
      range.endNs,
      ranks,
      look,
      arrangement,
      props.replays,
      pieces,
      steps,
      rank,
      step,
      selected?.startNs,
      selected?.durNs,
      hovered?.startNs,
      hovered?.rank,
      hovered?.kernel,
      kernels,
      zoomBox,
      props.events,
      props.notes,
      flows,
      props.meeting,
      props.path,
      pickedKernel?.startNs,
      pickedKernel?.rank,
    ],
  )
  const picking = usePicking({
    run,
    order: lanes.order,
    pieces,
    selected,
    shown: range,
    reveal: control.reveal,
    onRank: (next) => change(() => ({ scroll: scrollToLane(next, lanes, size.height) })),
    onKernel: (kernel) => change(() => ({ kernel })),
    onTrouble: props.onTrouble,
  })
  const nearNs = (MARK_SLACK * (range.endNs - range.startNs)) / plot
  /** Times that a mark keeps to: borders of the span under the pointer, the selected one, and steps. */
  function* edges(): Generator<number> {
    for (const item of [hovered, selected])
      if (item !== null) yield* [item.startNs, item.startNs + item.durNs]
    for (let i = 0; i < (steps?.step.length ?? 0); i++) {
      const start = steps?.startNs[i] ?? 0
      yield* [start, start + (steps?.wallNs[i] ?? 0)]
    }
  }
  const handlers = useGestures({
    canvas,
    control,
    lanes,
    pieces,
    setPointer,
    onPick: (on, ns, item, at) => {
      const mark = markUnder(at)
      if (mark === null) return picking.pickAt(on, ns, item)
      const { rank, step, layer } = mark
      select({ rank, step, layer: layer < 0 ? null : layer, timeNs: null })
    },
    onArea: (area) => change(() => ({ area })),
    onZoomBox: setZoomBox,
    onMeasure: (...ends) =>
      change(() => ({ marks: ends.map((ns) => snapped(ns, edges(), nearNs)).sort((a, b) => a - b) })),
    onLane: (moved, slot) => props.arrangementControl.change((now) => movedTo(now, ranks, moved, slot)),
    onScroll: (pixels) => change(() => ({ scroll: lanes.scroll + pixels })),
  })
  useTimelineKeys({
    ranks,
    rank,
    arrangementControl: props.arrangementControl,
    lookControl,
    control,
    picking,
    selected,
    step: props.stepPart,
    placed: props.placed,
    onNote: props.onNote,
    pointerNs:
      pointer === null ? null : snapped(timeAtX(pointer.x - lanes.labelWidth, range, plot), edges(), nearNs),
    nearNs,
  })

  return (
    <div className="timeline-picture">
      <canvas
        ref={canvas}
        className="timeline-canvas"
        data-testid="timeline-canvas"
        data-pieces={pieces.length}
        role="img"
        tabIndex={0}
        aria-label={`Stages of ${ranks} ranks over time; W and S zoom, A and D pan, comma and period move along a rank, N and P between lanes, V shows the same as a table`}
        {...handlers}
      />
      <p className="visually-hidden" aria-live="polite">
        {selectedText(selected)}
      </p>
      {pointer === null || hoveredMark === null ? null : (
        <MarkCard mark={hoveredMark} x={pointer.x} y={pointer.y} width={size.width} height={size.height} />
      )}
      {pointer === null || hovered === null ? null : (
        <HoverCard
          run={run}
          item={hovered}
          placed={props.placed}
          note={props.notes.find((note) => hovered.count === 1 && isNoteOf(note, hovered))?.text}
          x={pointer.x}
          y={pointer.y}
          width={size.width}
          height={size.height}
        />
      )}
    </div>
  )
}
