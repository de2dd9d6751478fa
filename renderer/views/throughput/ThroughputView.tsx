import '../../controls/controls.css'
import './throughput.css'
import { useSession } from '../../state/session.ts'
import { useView } from '../../state/view.ts'
import { SweepView } from './SweepView.tsx'

/** Does DCP pay, and where: the rates of a sweep over context, concurrency, size and transport. */
export const ThroughputView = () => {
  const run = useSession((s) => s.openRun)
  const sweep = run?.manifest.sweep
  return run === null || sweep === undefined ? (
    <NoSweep hasRun={run !== null} />
  ) : (
    <SweepView key={run.id} run={run} sweep={sweep} />
  )
}

const NoSweep = ({ hasRun }: { readonly hasRun: boolean }) => {
  const show = useView((s) => s.show)
  return (
    <div className="empty-state" data-testid="throughput-no-sweep">
      <p>
        {hasRun
          ? 'The open bundle holds one run. Throughput compares the points of a sweep.'
          : 'No sweep is open. Throughput compares the points of a sweep.'}
      </p>
      <p>
        A sweep is measured by the command line: <code className="selectable">dcpscope sweep</code> puts one
        among the recent runs, and its bundle is opened like that of a run, also while it is being measured.
      </p>
      <div className="run-next">
        <button
          type="button"
          className="button button-primary"
          onClick={() => void useSession.getState().openBundle()}
        >
          Open a bundle
        </button>
        {hasRun ? (
          <button type="button" className="button" onClick={() => show('run')}>
            Go to Run
          </button>
        ) : null}
      </div>
    </div>
  )
}
