import type { RunRef } from '../../app/protocol/store.ts'
import { SourceBadge } from '../controls/SourceBadge.tsx'
import { formatRate } from '../drawing/format.ts'
import { sourceNote } from '../drawing/provenance.ts'
import { useDump } from '../state/dump.ts'
import { nameOf, type OpenItem, useOpen } from '../state/open.ts'
import { phaseTone } from '../state/run-state.ts'
import { useSession } from '../state/session.ts'
import { whyNotMeasure } from '../state/start.ts'
import { resumeSweep } from '../state/sweep-actions.ts'
import { useView } from '../state/view.ts'
import { CloseIcon, DownIcon, FolderIcon, PlusIcon } from './icons.tsx'
import { Popover } from './Popover.tsx'

/** When a run was made, in the person's own time: `29 Nov 15:04`. */
export const whenText = (iso: string): string => {
  const date = new Date(iso)
  return Number.isNaN(date.getTime())
    ? iso
    : date.toLocaleString('en-GB', { day: '2-digit', month: 'short', hour: '2-digit', minute: '2-digit' })
}

export const RunItem = ({ run, onOpen }: { readonly run: RunRef; readonly onOpen: () => void }) => {
  const openId = useSession((s) => s.openId)
  return (
    <button
      type="button"
      className="run-item"
      aria-current={run.id === openId}
      title={`${run.name}: ${run.title}`}
      data-testid="run-item"
      onClick={onOpen}
    >
      <span className={`run-dot run-dot-${phaseTone(run.status)}`} />
      <span className="run-item-name">{run.name}</span>
      <span className="run-item-when num">{whenText(run.createdAt)}</span>
      <span className="run-item-title">{run.title}</span>
      <span className="run-item-status">
        {run.outcome === undefined || run.status !== 'complete'
          ? run.status
          : `${formatRate(run.outcome.tokensPerSecond)} tokens/s${run.outcome.ok ? '' : ', check failed'}`}
      </span>
      <SourceBadge source={run.outcome === undefined ? undefined : sourceNote([run.outcome.provenance])} />
    </button>
  )
}

/** Goes on with a sweep of the list. */
export const ResumeButton = ({ run, onResume }: { readonly run: RunRef; readonly onResume?: () => void }) => {
  const barred = useSession((s) => whyNotMeasure(s.desktop))
  if (run.unfinished !== true) return null
  return (
    <button
      type="button"
      className="button button-quiet"
      title={barred ?? `Measure what is left of ${run.name}`}
      aria-label={`Resume ${run.name}`}
      data-testid="resume-item"
      disabled={barred !== null}
      onClick={() => {
        onResume?.()
        void resumeSweep(run.id)
      }}
    >
      Resume
    </button>
  )
}

/** What is open, each with the way to it and to put it away. */
const OpenList = ({ close }: { readonly close: () => void }) => {
  const session = useSession()
  const items = useOpen((s) => s.items)
  const shown = useDump((s) => s.dump) ?? session.openId
  if (items.length === 0) return null
  return (
    <section aria-label="Open">
      <h3 className="run-menu-head">Open</h3>
      {items.map((item) => {
        const name = nameOf(item, session)
        return (
          <div key={item.id} className="open-item" data-testid="open-item">
            <button
              type="button"
              className="run-item open-item-name"
              aria-current={item.id === shown}
              onClick={() => {
                close()
                session.showItem(item)
              }}
            >
              <span className="run-item-name">{name}</span>
              <span className="run-item-status">{item.kind}</span>
            </button>
            <button
              type="button"
              className="button button-quiet button-icon"
              title={`Close ${name}`}
              aria-label={`Close ${name}`}
              onClick={() => session.closeItem(item.id)}
            >
              <CloseIcon />
            </button>
          </div>
        )
      })}
    </section>
  )
}

/** What was open before: runs, and dumps. */
const RecentList = ({ close }: { readonly close: () => void }) => {
  const { runs, openRunById, desktop, showDump } = useSession()
  const items = useOpen((s) => s.items)
  const isOpen = ({ id }: { readonly id: string }): boolean => items.some((item) => item.id === id)
  const dumps = (desktop?.dumps ?? []).filter((dump) => !isOpen(dump))
  const others = runs.filter((run) => !isOpen(run))
  return (
    <>
      {runs.length === 0 ? <p className="quiet run-menu-none">No runs yet.</p> : null}
      {others.length === 0 ? null : (
        <section aria-label="Runs">
          <h3 className="run-menu-head">Runs</h3>
          {others.map((run) => (
            <div key={run.id} className="open-item">
              <RunItem
                run={run}
                onOpen={() => {
                  close()
                  void openRunById(run.id)
                }}
              />
              <ResumeButton run={run} onResume={close} />
            </div>
          ))}
        </section>
      )}
      {dumps.length === 0 ? null : (
        <section aria-label="Dumps">
          <h3 className="run-menu-head">Dumps</h3>
          {dumps.map(({ id, name }) => (
            <button
              key={id}
              type="button"
              className="run-item open-item-name"
              data-testid="dump-item"
              onClick={() => {
                close()
                showDump(id)
              }}
            >
              <span className="run-item-name">{name}</span>
            </button>
          ))}
        </section>
      )}
    </>
  )
}

/** Which bundle or dump is shown, what else is open, and the way to others. */
export const RunPicker = () => {
  const session = useSession()
  const { openRun, openId, leaveRun, openBundle, refreshRuns } = session
  const show = useView((s) => s.show)
  const items = useOpen((s) => s.items)
  const dump = useDump((s) => s.dump)
  const shown: OpenItem | null =
    openId !== null ? { kind: 'run', id: openId } : dump !== null ? { kind: 'dump', id: dump } : null
  const label = openRun?.manifest.name ?? (shown === null ? 'No run open' : nameOf(shown, session))
  const others = items.filter(({ id }) => id !== shown?.id).length
  return (
    <Popover
      title="Open a run, or show another that is open"
      className="button run-picker"
      testId="run-picker"
      label={
        <>
          <span className="run-picker-name">{label}</span>
          {others === 0 ? null : (
            <span
              className="run-picker-more num"
              title={`${others} more ${others === 1 ? 'is' : 'are'} open`}
            >
              +{others}
            </span>
          )}
          <DownIcon />
        </>
      }
    >
      {(close) => (
        <div className="run-menu">
          <div className="run-menu-actions">
            <button
              type="button"
              className="button"
              data-testid="open-bundle"
              onClick={() => {
                close()
                void openBundle()
              }}
            >
              <FolderIcon /> Open bundles…
            </button>
            <button
              type="button"
              className="button"
              disabled={openId === null}
              onClick={() => {
                close()
                leaveRun()
                show('run')
              }}
            >
              <PlusIcon /> New run
            </button>
            <button type="button" className="button button-quiet" onClick={() => void refreshRuns()}>
              Refresh
            </button>
          </div>
          <div className="run-menu-list">
            <OpenList close={close} />
            <RecentList close={close} />
          </div>
        </div>
      )}
    </Popover>
  )
}
