import type { RunInfo, StoreResult } from '../../../app/protocol/store.ts'
import { caveatOf } from '../../../app/trace/caveat.ts'
import { RUN_STATUSES } from '../../../app/trace/manifest.ts'
import { SourceBadge } from '../../controls/SourceBadge.tsx'
import { countedDevices } from '../../drawing/counted-devices.ts'
import { sourceNote } from '../../drawing/provenance.ts'
import { FolderIcon, PauseIcon, PlayIcon, StopIcon } from '../../shell/icons.tsx'
import { togglePause } from '../../state/run-actions.ts'
import { endText, phaseTone, type RunState, runStateOf } from '../../state/run-state.ts'
import { useSession } from '../../state/session.ts'
import { useAnswer } from '../../state/use-answer.ts'
import { useView } from '../../state/view.ts'
import { EventList } from './EventList.tsx'
import { FigureStrip } from './FigureStrip.tsx'
import { figuresOf, TOTALS_SQL } from './figures.ts'
import { StageTable } from './StageTable.tsx'
import { StepsChart } from './StepsChart.tsx'

const MOST_POINTS = 600
const MOST_EVENTS = 50

const PHASE_WORDS: Readonly<Record<RunState['phase'], string>> = {
  starting: 'starting',
  filling: 'filling the cache',
  running: 'running',
  paused: 'paused',
  finishing: 'finishing',
  complete: 'complete',
  stopped: 'stopped',
  interrupted: 'interrupted',
  failed: 'failed',
}

const Controls = ({ state, openRun }: { readonly state: RunState; readonly openRun: RunInfo | null }) => {
  const stop = useSession((s) => s.stop)
  const revealRun = useSession((s) => s.revealRun)
  const paused = state.phase === 'paused'
  if (!state.active)
    return openRun === null ? null : (
      <button
        type="button"
        className="button"
        title="Show the bundle in the file manager"
        onClick={() => void revealRun(openRun.id)}
      >
        <FolderIcon /> Show files
      </button>
    )
  return (
    <>
      <button
        type="button"
        className="button"
        data-testid="run-pause"
        disabled={!paused && state.phase !== 'running'}
        title={paused ? 'Resume (Space)' : 'Pause after the present step (Space)'}
        onClick={() => void togglePause()}
      >
        {paused ? <PlayIcon /> : <PauseIcon />}
        {paused ? 'Resume' : 'Pause'}
      </button>
      <button
        type="button"
        className="button"
        data-testid="run-stop"
        disabled={state.phase === 'finishing'}
        title="End the run after the present step; everything up to it is kept"
        onClick={() => void stop()}
      >
        <StopIcon /> Stop
      </button>
    </>
  )
}

/** What the run runs on, and what of it is not what it looks like. */
const Machine = ({ manifest }: Pick<RunInfo, 'manifest'>) => {
  const caveat = caveatOf(manifest)
  return (
    <div className="run-machine">
      {countedDevices(manifest.devices).map(({ name, detail }) => (
        <p key={`${name} ${detail}`} className="quiet">
          {name}, <span className="num">{detail}</span>
        </p>
      ))}
      {caveat === undefined ? null : (
        <p className="run-caveat selectable" data-testid="run-caveat" title={caveat.text}>
          <SourceBadge source={caveat.source} /> {caveat.text}
        </p>
      )}
    </div>
  )
}

/** Shares are of all stages together, so one that was not measured is behind each of them. */
const ShareNote = ({ stages }: { readonly stages: StoreResult<'stages'> }) => {
  const source = sourceNote(stages.flatMap(({ sources }) => sources))
  return source === undefined ? null : (
    <span className="field-unit">
      ; shares <SourceBadge source={source} />
    </span>
  )
}

const fractionOf = (state: RunState, steps: number, total: number): number =>
  state.phase === 'filling' ? (state.fraction ?? 0) : total === 0 ? 0 : steps / total

const Measured = ({ openRun, state }: { readonly openRun: RunInfo; readonly state: RunState }) => {
  const progress = useSession((s) => s.progress)
  const show = useView((s) => s.show)
  const { summary } = openRun.manifest
  const run = openRun.id
  const some = openRun.steps > 0
  const totals = useAnswer(
    'query',
    some && summary === undefined && progress === null ? { run, sql: TOTALS_SQL, limit: 1 } : null,
  )
  const again = String(openRun.steps)
  const steps = useAnswer('steps', some ? { run, from: 0, max: MOST_POINTS } : null, again)
  const stages = useAnswer('stages', some ? { run } : null, again)
  const figures = figuresOf(openRun, progress, totals.answer?.data ?? null)
  const events = useAnswer(
    'events',
    some ? { run, limit: MOST_EVENTS } : null,
    `${figures.events} ${state.active}`,
  )
  const problem = steps.error ?? stages.error ?? events.error
  return (
    <>
      <div className="run-progress">
        <span style={{ width: `${100 * fractionOf(state, figures.steps, figures.totalSteps)}%` }} />
      </div>
      <Machine manifest={openRun.manifest} />
      <FigureStrip figures={figures} />
      {problem === null ? null : (
        <p className="run-problem" role="alert">
          {problem}
        </p>
      )}
      <section className="run-part" aria-label="Throughput over the steps">
        <h3>
          Throughput over the steps <span className="field-unit">tokens/s</span>{' '}
          <SourceBadge source={figures.source} />
        </h3>
        <div className="run-chart">
          {steps.answer === null ? null : (
            <StepsChart steps={steps.answer.data} count={openRun.steps} manifest={openRun.manifest} />
          )}
        </div>
      </section>
      <section className="run-part" aria-label="Stages">
        <h3>
          Stages <span className="field-unit">on one rank and layer; waiting hatched</span>
          {stages.answer === null ? null : <ShareNote stages={stages.answer.data} />}
        </h3>
        {stages.answer === null ? (
          <p className="quiet">Stages stand here after the first step.</p>
        ) : (
          <StageTable stages={stages.answer.data} />
        )}
      </section>
      {events.answer === null || events.answer.data.length === 0 ? null : (
        <section className="run-part" aria-label="Events">
          <h3>
            Events{' '}
            <span className="field-unit">
              {events.answer.data.length < MOST_EVENTS ? 'worth a look' : `the newest ${MOST_EVENTS}`}
            </span>
            <button
              type="button"
              className="button event-jump run-all-events"
              title="All events, counted and filtered, and where bad values began"
              data-testid="run-all-events"
              onClick={() => show('events')}
            >
              All, and their first cause
            </button>
          </h3>
          <EventList events={events.answer.data} />
        </section>
      )}
      {state.active ? null : (
        <div className="run-next">
          <button type="button" className="button" onClick={() => show('timeline')}>
            Look at the timeline
          </button>
          <button
            type="button"
            className="button"
            disabled={openRun.steps === 0}
            onClick={() => show('merge')}
          >
            Look at the merge
          </button>
        </div>
      )}
    </>
  )
}

/** A sweep is many runs, of which it keeps numbers only. */
const OfSweep = ({ openRun }: { readonly openRun: RunInfo }) => {
  const show = useView((s) => s.show)
  return (
    <>
      <Machine manifest={openRun.manifest} />
      <p className="run-wait">This bundle holds a sweep: the numbers of its points, and no run of its own.</p>
      <div className="run-next">
        <button type="button" className="button button-primary" onClick={() => show('throughput')}>
          Go to Throughput
        </button>
      </div>
    </>
  )
}

/** The open run: how it stands, what it measured, and what can be done with it. */
export const RunPanel = () => {
  const session = useSession()
  const { openRun, error, openId, openRunById, closeItem } = session
  const close = (): void => closeItem(openId ?? '')
  const state = runStateOf(session)
  if (state === null)
    return (
      <div className="empty-state">
        {error === null ? (
          <p>Opening the run…</p>
        ) : (
          <>
            <p className="run-problem selectable" role="alert">
              {error}
            </p>
            <div className="run-next">
              <button
                type="button"
                className="button"
                onClick={() => openId !== null && void openRunById(openId)}
              >
                Try again
              </button>
              <button type="button" className="button" onClick={close}>
                Close it
              </button>
            </div>
          </>
        )}
      </div>
    )
  const isSweep = openRun?.manifest.sweep !== undefined
  const end = RUN_STATUSES.find((status) => status === state.phase)
  return (
    <div className="run-panel">
      <header className="run-head">
        <h2 title={openRun?.manifest.name}>{openRun?.manifest.name ?? 'New run'}</h2>
        <span
          className={`badge badge-${phaseTone(state.phase)}`}
          data-testid="run-status"
          data-value={state.phase}
        >
          {PHASE_WORDS[state.phase]}
        </span>
        <span className="run-controls">
          <Controls state={state} openRun={openRun} />
        </span>
      </header>
      {!state.active && !isSweep && end !== undefined && end !== 'complete' && end !== 'running' ? (
        <p className={`run-end run-end-${phaseTone(end)} selectable`} role="status">
          {endText(end, state.error ?? undefined, openRun !== null)}
        </p>
      ) : null}
      {openRun === null ? null : openRun.manifest.sweep === undefined ? (
        <Measured key={openRun.id} openRun={openRun} state={state} />
      ) : (
        <OfSweep openRun={openRun} />
      )}
      {openRun === null && state.active ? (
        <p className="run-wait quiet">The engine makes keys and values of the contexts…</p>
      ) : null}
      {openRun === null && !state.active ? (
        <div className="run-next">
          <button type="button" className="button" onClick={close}>
            Back to the start
          </button>
        </div>
      ) : null}
    </div>
  )
}
