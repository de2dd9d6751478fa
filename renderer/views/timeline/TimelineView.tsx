import '../../controls/controls.css'
import './timeline.css'
import { useState } from 'react'
import { STAGES, type Stage } from '../../../app/trace/stages.ts'
import { useSelection } from '../../state/selection.ts'
import { useSession } from '../../state/session.ts'
import { useAnswer } from '../../state/use-answer.ts'
import { useView } from '../../state/view.ts'
import { Legend } from './Legend.tsx'
import type { Area } from './scene.ts'
import { TimelineCanvas } from './TimelineCanvas.tsx'
import { Toolbar } from './Toolbar.tsx'
import { useTimelineInspector } from './use-inspector.ts'
import { useRange } from './use-range.ts'
import { useTiles } from './use-tiles.ts'

/** Steps whose borders the ruler knows; of longer runs they are thinned. */
const MOST_STEPS = 5000

const isStage = (name: string): name is Stage => STAGES.some((stage) => stage === name)

/** What each rank did when: a lane a rank, stages as spans, waiting hatched; live while the run goes on. */
export const TimelineView = () => {
  const open = useSession((s) => s.openRun)
  const progress = useSession((s) => s.progress)
  const show = useView((s) => s.show)
  const { rank, timeNs } = useSelection()
  const [width, setWidth] = useState(1000)
  const [dimmed, setDimmed] = useState<ReadonlySet<Stage>>(new Set())
  const [marked, setMarked] = useState<{ run: string | null; area: Area | null }>({ run: null, area: null })

  const run = open?.id ?? null
  const live = open?.manifest.status === 'running' && (progress?.status ?? 'running') === 'running'
  const traced = progress?.id === run ? (progress?.endNs ?? 0) : 0
  const whole = { startNs: open?.startNs ?? 0, endNs: Math.max(open?.endNs ?? 0, traced, 1) }
  const ranks = open?.ranks ?? 0
  const control = useRange(run, whole, live)
  const tiles = useTiles(run, ranks, control.range, whole, width)
  const area = marked.run === run ? marked.area : null
  const again = String(open?.steps ?? 0)
  const steps = useAnswer('steps', run === null ? null : { run, from: 0, max: MOST_STEPS }, again)
  const stages = useAnswer('stages', run === null ? null : { run }, live ? 'live' : again)
  const span = useAnswer(
    'spanAt',
    run === null || rank === null || timeNs === null ? null : { run, rank, atNs: timeNs },
  )
  useTimelineInspector(run, area, rank, span.answer?.data ?? null)

  if (open === null)
    return (
      <div className="empty-state" data-testid="timeline-empty">
        <p>No run is open. A run fills the timeline while it goes on.</p>
        <button type="button" className="button button-primary" onClick={() => show('run')}>
          Go to Run
        </button>
      </div>
    )
  if (open.spanCount === 0 && tiles.pieces.every((piece) => piece.tile.rank.length === 0))
    return (
      <div className="empty-state" role="status">
        <p>
          {live ? 'The first steps are on their way.' : 'The run ended before its first step was traced.'}
        </p>
      </div>
    )

  const toggle = (stage: Stage): void => {
    const next = new Set(dimmed)
    if (!next.delete(stage)) next.add(stage)
    setDimmed(next)
  }
  const legend = (stages.answer?.data ?? []).flatMap(({ stage, share, waitShare }) =>
    isStage(stage) ? [{ stage, share, waitShare }] : [],
  )
  const error = tiles.error ?? steps.error ?? stages.error
  return (
    <section className="timeline" aria-label="Timeline">
      <Toolbar control={control} live={live} loading={tiles.loading} />
      <Legend stages={legend} dimmed={dimmed} toggle={toggle} />
      {error === null ? null : (
        <p className="timeline-error" role="alert">
          {error}
        </p>
      )}
      <TimelineCanvas
        run={open.id}
        ranks={ranks}
        control={control}
        pieces={tiles.pieces}
        steps={steps.answer?.data ?? null}
        dimmed={dimmed}
        area={area}
        setArea={(next) => setMarked({ run, area: next })}
        setWidth={setWidth}
      />
    </section>
  )
}
