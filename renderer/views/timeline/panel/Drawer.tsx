import type { ReactNode } from 'react'
import { Resizer } from '../../../shell/Resizer.tsx'
import { PANEL_HEIGHT, PANEL_WORDS, PANELS, type PanelId, usePanels } from './panels.ts'

/** The tables below the lanes: a strip that opens them one at a time, and the open one. */
export const Drawer = ({ children }: { readonly children: (panel: PanelId) => ReactNode }) => {
  const { open, height, toggle, resize } = usePanels()
  return (
    <div className="drawer">
      {open === null ? null : (
        <Resizer
          edge="top"
          label="Height of the tables"
          value={height}
          min={PANEL_HEIGHT.least}
          max={PANEL_HEIGHT.most}
          onChange={resize}
        />
      )}
      <div className="drawer-tabs" role="toolbar" aria-label="Tables of the timeline">
        {PANELS.map((panel) => (
          <button
            key={panel}
            type="button"
            className="drawer-tab"
            aria-pressed={open === panel}
            title={`${open === panel ? 'Close' : 'Open'} (${PANEL_WORDS[panel].key})`}
            data-testid={`timeline-panel-${panel}`}
            onClick={() => toggle(panel)}
          >
            {PANEL_WORDS[panel].title}
          </button>
        ))}
      </div>
      {open === null ? null : (
        <section className="drawer-body" style={{ height }} aria-label={PANEL_WORDS[open].title}>
          {children(open)}
        </section>
      )}
    </div>
  )
}
