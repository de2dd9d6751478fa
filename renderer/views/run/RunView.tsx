import '../../controls/controls.css'
import '../../controls/form/form.css'
import './run.css'
import { useDeferredValue } from 'react'
import { useSession } from '../../state/session.ts'
import { ConfigForm } from './ConfigForm.tsx'
import { DerivedPanel } from './DerivedPanel.tsx'
import { MachinePanel } from './MachinePanel.tsx'
import { RunPanel } from './RunPanel.tsx'
import { StartScreen } from './StartScreen.tsx'
import { useWide } from './use-wide.ts'

/** Configure, start and watch a run. */
export const RunView = () => {
  const isOpen = useSession((s) => s.openId !== null)
  const { ref, wide } = useWide()
  const folded = isOpen && !wide
  // What follows from the form comes behind it, so that the view is there at once.
  const hasSide = useDeferredValue(true, false)
  return (
    <div className="run-frame" ref={ref}>
      <div className="run-view">
        <ConfigForm />
        <div className="run-main">{isOpen ? <RunPanel /> : <StartScreen />}</div>
        <div className="run-side">
          {hasSide ? (
            <>
              <DerivedPanel key={folded ? 'folded' : 'open'} folded={folded} />
              <MachinePanel />
            </>
          ) : null}
        </div>
      </div>
    </div>
  )
}
