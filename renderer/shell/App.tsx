import './shell.css'
import { useEffect } from 'react'
import { useSettings } from '../state/settings.ts'
import { useView } from '../state/view.ts'
import { shadeOf } from '../theme/colours.ts'
import { useTheme } from '../theme/use-theme.ts'
import { CrashBanners } from './CrashBanner.tsx'
import { DropTarget } from './DropTarget.tsx'
import { ErrorBoundary } from './ErrorBoundary.tsx'
import { ExportMenu } from './export/ExportMenu.tsx'
import { HelpSheet } from './HelpSheet.tsx'
import { ViewHelp } from './help/ViewHelp.tsx'
import { InspectorPanel } from './InspectorPanel.tsx'
import { useLayout } from './layout.ts'
import { Palette } from './palette/Palette.tsx'
import { Rail } from './Rail.tsx'
import { SelectionBar } from './SelectionBar.tsx'
import { StatusLine } from './StatusLine.tsx'
import { TopBar } from './TopBar.tsx'
import { useActionKeys } from './use-actions.ts'
import { VIEWS } from './views.ts'

/** The frame: rail, top bar, the shown view, inspector, status line. */
export const App = () => {
  const theme = useTheme()
  const view = useView((s) => s.view)
  const helpOpen = useLayout((s) => s.helpOpen)
  const paletteOpen = useLayout((s) => s.paletteOpen)
  const viewHelpOpen = useLayout((s) => s.viewHelpOpen)
  const inspectorOpen = useLayout((s) => s.inspectorOpen)
  useActionKeys(view)
  useEffect(() => {
    document.documentElement.dataset.theme = shadeOf(theme)
  }, [theme])
  // Text that was written stands until it is written anew.
  const numbers = useSettings(({ settings: s }) => `${s.thousands} ${s.durations} ${s.bytes}`)
  const shown = VIEWS.find(({ id }) => id === view)
  return (
    <div className="frame">
      <TopBar />
      <Rail />
      <main className="frame-main">
        <SelectionBar />
        <CrashBanners />
        {viewHelpOpen ? <ViewHelp /> : null}
        <div className="frame-view">
          {shown === undefined ? null : (
            <ErrorBoundary
              key={shown.id === 'settings' ? shown.id : `${shown.id} ${numbers}`}
              name={shown.title}
            >
              <shown.component />
            </ErrorBoundary>
          )}
        </div>
      </main>
      {inspectorOpen ? <InspectorPanel key={numbers} /> : null}
      <StatusLine key={`status ${numbers}`} />
      {helpOpen ? <HelpSheet /> : null}
      {paletteOpen ? <Palette /> : null}
      <ExportMenu />
      <DropTarget />
    </div>
  )
}
