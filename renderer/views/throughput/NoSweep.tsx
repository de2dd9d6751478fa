import { useSession } from '../../state/session.ts'
import { whyNotMeasure } from '../../state/start.ts'
import { showSweepForm, startSmallSweep } from '../../state/sweep-actions.ts'
import { shortProgress } from '../../state/sweep-state.ts'
import { useView } from '../../state/view.ts'

/** In place of a sweep: the ways to one. */
export const NoSweep = ({ hasRun }: { readonly hasRun: boolean }) => {
  const show = useView((s) => s.show)
  const { openBundle, openRunById } = useSession()
  const barred = useSession((s) => whyNotMeasure(s.desktop))
  const active = useSession((s) => s.desktop?.activeSweep ?? null)
  return (
    <div className="empty-state" data-testid="throughput-no-sweep">
      <p>
        {hasRun
          ? 'The open bundle holds one run. Throughput compares the points of a sweep.'
          : 'No sweep is open. Throughput compares the points of a sweep.'}
      </p>
      <p>
        A sweep measures every combination of dcp size, transport, context and concurrency beside the TP
        baseline. The small one takes a minute at most on any machine;{' '}
        <code className="selectable">dcpscope sweep</code> measures the same on a server without a window.
      </p>
      {active === null ? null : (
        <p>
          {active.name} is being measured: <span className="num">{shortProgress(active)}</span>.{' '}
          <button type="button" className="button" onClick={() => void openRunById(active.run)}>
            Show it
          </button>
        </p>
      )}
      <div className="run-next">
        <button
          type="button"
          className="button button-primary"
          data-testid="sweep-small"
          disabled={barred !== null}
          title={barred ?? 'Measure the tiny model on this machine: 30 points'}
          onClick={() => void startSmallSweep()}
        >
          Start a small sweep
        </button>
        <button
          type="button"
          className="button"
          data-testid="sweep-new"
          title="Ctrl+Shift+N"
          onClick={showSweepForm}
        >
          New sweep
        </button>
        <button type="button" className="button" onClick={() => void openBundle()}>
          Open a bundle
        </button>
        {hasRun ? (
          <button type="button" className="button" onClick={() => show('run')}>
            Go to Run
          </button>
        ) : null}
      </div>
      {barred === null || active !== null ? null : <p className="quiet">{barred}</p>}
    </div>
  )
}
