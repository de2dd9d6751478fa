import { FolderIcon, PlayIcon } from '../../shell/icons.tsx'
import { useCompare } from '../../state/compare.ts'
import { nameOf, type OpenItem } from '../../state/open.ts'
import { useSession } from '../../state/session.ts'
import { whyNotStart } from '../../state/start.ts'

const MOST = 8

/** One or both are missing: what the view is for, and the ways to what can be compared. */
export const NothingToCompare = ({ shown }: { readonly shown: OpenItem | null }) => {
  const session = useSession()
  const { desktop, runs, openBundle, openDump, showItem } = session
  const { choose, running, runSample } = useCompare()
  const reason = whyNotStart(desktop, 0)
  const others: readonly OpenItem[] = [
    ...runs.map(({ id }): OpenItem => ({ kind: 'run', id })),
    ...(desktop?.dumps ?? []).map(({ id }): OpenItem => ({ kind: 'dump', id })),
  ].filter(({ id }) => id !== shown?.id)
  return (
    <div className="empty-state" data-testid="compare-nothing">
      {shown === null ? (
        <p>
          Compare two runs or two tensor dumps: what they were asked, where their numbers diverge first, which
          stage changed and by how much, and whether that is more than chance.
        </p>
      ) : (
        <p>
          <b>{nameOf(shown, session)}</b> is open. Choose what to compare it with.
        </p>
      )}
      <div className="compare-choices">
        <button
          type="button"
          className="button button-primary"
          data-testid="compare-sample"
          disabled={running !== null || reason !== null}
          title={reason ?? 'The default configuration by ag_rs and by a2a'}
          onClick={() => void runSample()}
        >
          <PlayIcon />{' '}
          {running === null ? 'Run two transports and compare them' : `Running with ${running} …`}
        </button>
        <button type="button" className="button" onClick={() => void openBundle()}>
          <FolderIcon /> Open bundles…
        </button>
        <button type="button" className="button" onClick={() => void openDump('folder')}>
          Open dump folders…
        </button>
      </div>
      {others.length === 0 ? null : (
        <section className="compare-others" aria-label={shown === null ? 'Recent' : 'Compare with'}>
          <h3>{shown === null ? 'Recent' : 'Compare with'}</h3>
          {others.slice(0, MOST).map((item) => (
            <button
              key={item.id}
              type="button"
              className="run-item open-item-name"
              data-testid="compare-with"
              onClick={() => (shown === null ? showItem(item, { stay: true }) : choose(item))}
            >
              <span className="run-item-name">{nameOf(item, session)}</span>
              <span className="run-item-status">
                {runs.find(({ id }) => id === item.id)?.title ?? item.kind}
              </span>
            </button>
          ))}
        </section>
      )}
    </div>
  )
}
