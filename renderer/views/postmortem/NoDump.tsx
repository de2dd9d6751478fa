import { FolderIcon } from '../../shell/icons.tsx'
import { useSession } from '../../state/session.ts'
import { useView } from '../../state/view.ts'

/** Nothing to look at: the ways to something. */
export const NoDump = () => {
  const { openRun, desktop, openDump, openBundle, showDump } = useSession()
  const show = useView((s) => s.show)
  const dumps = desktop?.dumps ?? []
  const captureless = openRun !== null && openRun.manifest.sweep === undefined
  return (
    <div className="empty-state pm-none" data-testid="pm-no-dump">
      <p>
        {captureless
          ? 'The open run kept no tensors. Run it again with capture of a step from Merge, or open a dump.'
          : 'No tensors are open. A dump is what a serving engine, or a run of dcpscope, kept of its decode attention: queries, partials, lse, tables, merged output.'}
      </p>
      <p className="quiet">Files and folders can be dropped anywhere on this window.</p>
      <div className="pm-choices">
        <button
          type="button"
          className="button button-primary"
          data-testid="pm-open-files"
          onClick={() => void openDump('files')}
        >
          Open dump files…
        </button>
        <button type="button" className="button" onClick={() => void openDump('folder')}>
          <FolderIcon /> Open dump folder…
        </button>
        {captureless ? (
          <button type="button" className="button" onClick={() => show('merge')}>
            Go to Merge
          </button>
        ) : (
          <button type="button" className="button" onClick={() => void openBundle()}>
            Open bundles…
          </button>
        )}
      </div>
      {dumps.length === 0 ? null : (
        <section className="pm-recent" aria-label="Recent dumps">
          <h3>Recent dumps</h3>
          {dumps.map(({ id, name }) => (
            <button
              key={id}
              type="button"
              className="run-item pm-recent-item"
              data-testid="pm-recent"
              onClick={() => showDump(id)}
            >
              {name}
            </button>
          ))}
        </section>
      )}
    </div>
  )
}
