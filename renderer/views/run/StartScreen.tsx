import { FolderIcon, PlayIcon } from '../../shell/icons.tsx'
import { startDefaultRun } from '../../state/run-actions.ts'
import { useSession } from '../../state/session.ts'
import { whyNotStart } from '../../state/start.ts'
import { History } from './History.tsx'

/** Before a run is open: the way to one. */
export const StartScreen = () => {
  const { desktop, openBundle } = useSession()
  const reason = whyNotStart(desktop, 0)
  return (
    <div className="run-start">
      <h2>No run is open</h2>
      <p>
        A run decodes a batch on sharded KV pages: every rank attends to its part, the partials are merged by
        their log-sum-exp, and the result is checked against an unsharded reference.
      </p>
      <div className="run-next">
        <button
          type="button"
          className="button button-primary run-start-button"
          data-testid="run-start-default"
          disabled={reason !== null}
          onClick={() => void startDefaultRun()}
        >
          <PlayIcon /> Start the default run <kbd className="kbd">Enter</kbd>
        </button>
        <button type="button" className="button run-start-button" onClick={() => void openBundle()}>
          <FolderIcon /> Open bundles…
        </button>
      </div>
      <p className="quiet run-start-reason">{reason ?? ''}</p>
      <History />
    </div>
  )
}
