import { CaveatNote } from '../controls/CaveatNote.tsx'
import { phaseTone, runStateOf } from '../state/run-state.ts'
import { useSession } from '../state/session.ts'
import { PanelIcon } from './icons.tsx'
import { useLayout } from './layout.ts'
import { PlaceButtons } from './PlaceButtons.tsx'
import { RunPicker } from './RunPicker.tsx'
import { StepScrubber } from './StepScrubber.tsx'
import { SearchField } from './search/SearchField.tsx'

/** What is open, how it stands, and which of its steps is shown. */
export const TopBar = () => {
  const session = useSession()
  const { inspectorOpen, toggleInspector } = useLayout()
  const { openRun } = session
  const state = runStateOf(session)
  const device = openRun?.manifest.devices[0]
  return (
    <header className="topbar">
      <PlaceButtons />
      <RunPicker />
      {state === null ? null : (
        <span className={`badge badge-${phaseTone(state.phase)}`} data-testid="top-status">
          {state.phase}
        </span>
      )}
      {openRun === null ? null : (
        <span className="topbar-facts" title={device?.detail}>
          {openRun.manifest.sweep === undefined ? (
            <>
              <span className="num topbar-number">{openRun.ranks}</span> ranks
            </>
          ) : (
            'sweep'
          )}
          {device === undefined ? null : (
            <>
              <span className="topbar-dot" />
              <span className="topbar-device">{device.name}</span>
            </>
          )}
          <CaveatNote manifest={openRun.manifest} />
        </span>
      )}
      <StepScrubber />
      <SearchField />
      <button
        type="button"
        className="button button-quiet button-icon"
        title={inspectorOpen ? 'Hide the inspector (I)' : 'Show the inspector (I)'}
        aria-label="Inspector"
        aria-pressed={inspectorOpen}
        onClick={toggleInspector}
      >
        <PanelIcon />
      </button>
    </header>
  )
}
