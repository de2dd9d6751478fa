import type { RunRef } from '../../app/protocol/store.ts'
import { phaseTone } from '../state/run-state.ts'
import { useSession } from '../state/session.ts'
import { useView } from '../state/view.ts'
import { DownIcon, FolderIcon, PlusIcon } from './icons.tsx'
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
      <span className="run-item-status">{run.status}</span>
    </button>
  )
}

/** Which run is open, and the way to others. */
export const RunPicker = () => {
  const { runs, openRun, openId, openRunById, closeRun, openBundle, refreshRuns } = useSession()
  const show = useView((s) => s.show)
  const label = openRun?.manifest.name ?? (openId === null ? 'No run open' : 'New run')
  return (
    <Popover
      title="Open a run"
      className="button run-picker"
      testId="run-picker"
      label={
        <>
          <span className="run-picker-name">{label}</span>
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
              <FolderIcon /> Open bundle…
            </button>
            <button
              type="button"
              className="button"
              disabled={openId === null}
              onClick={() => {
                close()
                closeRun()
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
            {runs.length === 0 ? <p className="quiet run-menu-none">No runs yet.</p> : null}
            {runs.map((run) => (
              <RunItem
                key={run.id}
                run={run}
                onOpen={() => {
                  close()
                  void openRunById(run.id)
                }}
              />
            ))}
          </div>
        </div>
      )}
    </Popover>
  )
}
