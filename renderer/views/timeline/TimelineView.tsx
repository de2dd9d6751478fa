import '../../controls/controls.css'
import './timeline.css'
import './panel/panel.css'
import { useCallback, useMemo, useRef, useState } from 'react'
import type { RunInfo } from '../../../app/protocol/store.ts'
import { recordsKernels } from '../../../app/run/engine-config.ts'
import { isNoteOf, type Note } from '../../../app/trace/notes.ts'
import { OUTER_STAGES, STAGES, type Stage } from '../../../app/trace/stages.ts'
import { NothingOfSweep } from '../../controls/NothingOfSweep.tsx'
import { placedSource, sourceNote } from '../../drawing/provenance.ts'
import { useNotes } from '../../state/notes.ts'
import { useSelection } from '../../state/selection.ts'
import { useSession } from '../../state/session.ts'
import { useAnswer } from '../../state/use-answer.ts'
import { useView } from '../../state/view.ts'
import { laneOrder } from './arrangement.ts'
import { MARK_BUCKETS, marksOf, marksWindow } from './event-marks.ts'
import { LaneButtons } from './LaneButtons.tsx'
import { Legend } from './Legend.tsx'
import { toggledStage, useLook, useLookStore } from './look.ts'
import { measuresOf } from './measure.ts'
import { meetingOf } from './meeting.ts'
import { Drawer } from './panel/Drawer.tsx'
import { DrawnPanel } from './panel/DrawnPanel.tsx'
import { NotesPanel } from './panel/NotesPanel.tsx'
import { PathPanel } from './panel/PathPanel.tsx'
import { usePanels } from './panel/panels.ts'
import { StatsPanel } from './panel/StatsPanel.tsx'
import { type TimeRange, withMargin } from './range.ts'
import type { StepColumns } from './scene.ts'
import { scopeOf } from './scope.ts'
import { itemOfSpan, spanAt } from './span-search.ts'
import { TimelineCanvas } from './TimelineCanvas.tsx'
import { Toolbar } from './Toolbar.tsx'
import { useArrangement } from './use-arrangement.ts'
import { useTimelineInspector } from './use-inspector.ts'
import { middleOf, partOf } from './use-picking.ts'
import { useRange } from './use-range.ts'
import { useTiles } from './use-tiles.ts'

/** Steps whose borders the ruler knows; of longer runs they are thinned. */
const MOST_STEPS = 10_000

const isOuter = (name: string): boolean => OUTER_STAGES.some((stage) => stage === name)

const isStage = (name: string): name is Stage => STAGES.some((stage) => stage === name)

const NO_NOTES: readonly Note[] = []

/** When a step was, null where it is not among the known ones. */
const partOfStep = (steps: StepColumns | null, step: number | null): TimeRange | null => {
  const i = steps === null || step === null ? -1 : steps.step.indexOf(step)
  const startNs = steps?.startNs[i]
  return startNs === undefined ? null : { startNs, endNs: startNs + (steps?.wallNs[i] ?? 0) }
}

/** A step of a live run may still get spans of some ranks; once others follow it, it is whole. */
const pathAgain = ({ manifest, steps }: RunInfo, step: number | null): string =>
  manifest.status === 'running' && step !== null && step >= steps - 2 ? `live ${steps}` : 'whole'

const outOfSight = (part: TimeRange, range: TimeRange): boolean =>
  part.endNs <= range.startNs || part.startNs >= range.endNs

/** What each rank did when: a lane a rank, stages as spans, waiting hatched; live while the run goes on. */
export const TimelineView = () => {
  const open = useSession((s) => s.openRun)
  const opening = useSession((s) => s.openId !== null)
  const show = useView((s) => s.show)
  if (open?.manifest.sweep !== undefined) return <NothingOfSweep lacks="no spans" />
  if (open !== null) return <Timeline open={open} />
  return (
    <div className="empty-state" data-testid="timeline-empty">
      <p>
        {opening
          ? 'The run begins; its first steps will stand here.'
          : 'No run is open. A run fills the timeline while it goes on.'}
      </p>
      {opening ? null : (
        <div className="timeline-choices">
          <button type="button" className="button button-primary" onClick={() => show('run')}>
            Go to Run
          </button>
          <button type="button" className="button" onClick={() => void useSession.getState().openBundle()}>
            Open a bundle
          </button>
        </div>
      )}
    </div>
  )
}

const Timeline = ({ open }: { readonly open: RunInfo }) => {
  const run = open.id
  const { ranks } = open
  const { rank, timeNs, step } = useSelection()
  const [width, setWidth] = useState(1000)
  const [trouble, setTrouble] = useState<string | null>(null)
  const lookControl = useLook(run)
  const { look } = lookControl

  const live = open.manifest.status === 'running'
  const whole = { startNs: open.startNs, endNs: Math.max(open.endNs, open.startNs + 1) }
  const control = useRange(lookControl, whole, live)
  const tiles = useTiles(
    run,
    ranks,
    control.range,
    whole,
    live ? open.endNs : Number.POSITIVE_INFINITY,
    width,
  )
  const again = `${open.steps} ${live}`
  const steps = useAnswer('steps', { run, from: 0, max: MOST_STEPS }, again)
  const stages = useAnswer('stages', { run }, again)
  const panel = usePanels((s) => s.open)
  const path = useAnswer(
    'stepPath',
    panel === 'path' && step !== null ? { run, step } : null,
    pathAgain(open, step),
  )
  const found = useAnswer('spanAt', rank === null || timeNs === null ? null : { run, rank, atNs: timeNs })
  // The answer to an earlier question belongs to another span.
  const isNow = found.answer?.params.rank === rank && found.answer.params.atNs === timeNs
  const span = isNow ? (found.answer?.data ?? null) : null
  const placed = placedSource(open.manifest)
  const kernels = recordsKernels(open.manifest.config)
  const replays =
    open.manifest.config.engine.graph || (stages.answer?.data ?? []).some(({ stage }) => isOuter(stage))
  const arrangementControl = useArrangement(run)
  // It stands as long as nothing else is selected.
  const isPicked = look.kernel !== null && look.kernel.rank === rank && middleOf(look.kernel) === timeNs
  const pickedKernel = isPicked ? look.kernel : null
  const foundKernel = useAnswer(
    'kernelAt',
    pickedKernel === null ? null : { run, rank: pickedKernel.rank, atNs: pickedKernel.startNs },
  )
  const kernel = foundKernel.answer?.data ?? null
  const met = useAnswer(
    'collective',
    span === null || span.collectiveSeq === null
      ? null
      : { run, step: span.step, number: span.collectiveSeq },
  )
  const isMet = met.answer?.params.number === span?.collectiveSeq && met.answer?.params.step === span?.step
  const meeting = useMemo(
    () => (isMet && met.answer !== null ? meetingOf(met.answer.data) : null),
    [isMet, met.answer],
  )
  const spanItem = useMemo(
    () => (span === null || rank === null ? null : itemOfSpan(rank, span)),
    [span, rank],
  )
  const around = marksWindow(control.range)
  const marked = useAnswer('eventMarks', { run, ...around, buckets: MARK_BUCKETS }, again)
  const events = useMemo(() => (marked.answer === null ? [] : marksOf(marked.answer.data)), [marked.answer])
  const noteVersion = useNotes((s) => s.version)
  const noted = useAnswer('notes', { run }, String(noteVersion))
  const notes = noted.answer?.params.run === run ? noted.answer.data : NO_NOTES
  const noteField = useRef<HTMLTextAreaElement>(null)
  const spanNote = spanItem === null ? undefined : notes.find((note) => isNoteOf(note, spanItem))
  const writeNote = (): void => {
    usePanels.getState().show('notes')
    // The field is there with the next frame.
    requestAnimationFrame(() => noteField.current?.focus())
  }
  useTimelineInspector(
    run,
    look,
    rank,
    span,
    placed,
    kernel?.startNs === pickedKernel?.startNs ? kernel : null,
    meeting,
    spanNote?.text,
  )

  const legend = useMemo(
    () =>
      (stages.answer?.data ?? []).flatMap(({ stage, share, waitShare, sources }) =>
        isStage(stage) ? [{ stage, share, waitShare, source: sourceNote(sources) }] : [],
      ),
    [stages.answer],
  )
  const toggle = useCallback(
    (stage: Stage) => useLookStore.getState().change(run, (l) => ({ dimmed: toggledStage(l.dimmed, stage) })),
    [run],
  )

  /** Selects the span of a rank at a time, and brings it into view. */
  const goTo = (rank: number, ns: number): void => {
    setTrouble(null)
    spanAt(run, rank, ns).then(
      (item) => {
        if (item === null) return
        useSelection.getState().select({
          rank,
          step: item.step,
          timeNs: item.startNs,
          ...(item.layer < 0 ? {} : { layer: item.layer }),
        })
        control.show(withMargin(partOf(item), 4))
      },
      (error: unknown) => setTrouble(error instanceof Error ? error.message : String(error)),
    )
  }

  if (open.spanCount === 0)
    return (
      <div className="empty-state" role="status">
        <p>
          {live ? 'The first steps are on their way.' : 'The run ended before its first step was traced.'}
        </p>
      </div>
    )
  const stepColumns = steps.answer?.data ?? null
  const stepPart = partOfStep(stepColumns, step)
  const hiddenStep =
    step !== null && stepPart !== null && outOfSight(stepPart, control.range)
      ? { step, part: stepPart }
      : null
  const error =
    tiles.error ??
    steps.error ??
    stages.error ??
    found.error ??
    met.error ??
    marked.error ??
    foundKernel.error ??
    trouble
  return (
    <section className="timeline" aria-label="Timeline">
      <Toolbar
        control={control}
        live={live}
        loading={tiles.loading}
        hiddenStep={hiddenStep}
        lane={rank === null ? null : <LaneButtons rank={rank} ranks={ranks} control={arrangementControl} />}
        measure={measuresOf(look.marks).at(-1)}
        onUnmark={() => lookControl.change(() => ({ marks: [] }))}
        manifest={open.manifest}
      />
      <Legend stages={legend} dimmed={look.dimmed} toggle={toggle} />
      {open.manifest.kernelNote === undefined ? null : (
        <p className="timeline-note quiet" data-testid="kernel-note">
          Kernels were not recorded: {open.manifest.kernelNote}
        </p>
      )}
      {error === null ? null : (
        <p className="timeline-error" role="alert">
          {error}
        </p>
      )}
      <TimelineCanvas
        run={run}
        ranks={ranks}
        lookControl={lookControl}
        control={control}
        pieces={tiles.pieces}
        steps={stepColumns}
        stepPart={stepPart}
        path={panel === 'path' && path.answer?.params.step === step ? path.answer.data.path : null}
        span={spanItem}
        events={events}
        notes={notes}
        onNote={writeNote}
        meeting={meeting}
        kernels={kernels}
        replays={replays}
        arrangementControl={arrangementControl}
        pickedKernel={pickedKernel}
        placed={placed}
        setWidth={setWidth}
        onTrouble={setTrouble}
      />
      <Drawer>
        {(shown) => {
          switch (shown) {
            case 'stats':
              return (
                <StatsPanel
                  open={open}
                  scope={scopeOf(look.area, stepPart, whole, ranks)}
                  step={step}
                  kernels={kernels}
                  goTo={goTo}
                />
              )
            case 'drawn':
              return (
                <DrawnPanel
                  pieces={tiles.pieces}
                  events={events}
                  range={control.range}
                  order={laneOrder(arrangementControl.arrangement, ranks)}
                />
              )
            case 'notes':
              return (
                <NotesPanel
                  run={run}
                  notes={notes}
                  error={noted.error}
                  span={spanItem}
                  field={noteField}
                  goTo={goTo}
                />
              )
            case 'path':
              return <PathPanel open={open} step={step} found={path} goTo={goTo} />
          }
        }}
      </Drawer>
    </section>
  )
}
