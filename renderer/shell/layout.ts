import { create } from 'zustand'
import { load, loadNumber, save } from '../state/kept.ts'

export const INSPECTOR = { least: 220, most: 640, start: 280 } as const

interface Layout {
  readonly railWide: boolean
  readonly inspectorOpen: boolean
  /** Pixels. */
  readonly inspectorWidth: number
  readonly helpOpen: boolean
  readonly paletteOpen: boolean
  /** Whether the explanation of the shown view stands above it. */
  readonly viewHelpOpen: boolean
  readonly toggleRail: () => void
  readonly toggleInspector: () => void
  readonly toggleViewHelp: () => void
  readonly resizeInspector: (width: number) => void
  readonly showHelp: (open: boolean) => void
  readonly showPalette: (open: boolean) => void
}

/** Panels of the frame; sizes are kept for the next start. */
export const useLayout = create<Layout>((set, get) => ({
  railWide: load('rail') !== 'narrow',
  inspectorOpen: load('inspector') !== 'closed',
  inspectorWidth: loadNumber('inspectorWidth', INSPECTOR.start, INSPECTOR.least, INSPECTOR.most),
  helpOpen: false,
  paletteOpen: false,
  viewHelpOpen: load('viewHelp') === 'open',
  toggleRail: () => {
    const railWide = !get().railWide
    save('rail', railWide ? 'wide' : 'narrow')
    set({ railWide })
  },
  toggleInspector: () => {
    const inspectorOpen = !get().inspectorOpen
    save('inspector', inspectorOpen ? 'open' : 'closed')
    set({ inspectorOpen })
  },
  toggleViewHelp: () => {
    const viewHelpOpen = !get().viewHelpOpen
    save('viewHelp', viewHelpOpen ? 'open' : 'closed')
    set({ viewHelpOpen })
  },
  resizeInspector: (width) => {
    const inspectorWidth = Math.min(INSPECTOR.most, Math.max(INSPECTOR.least, Math.round(width)))
    save('inspectorWidth', inspectorWidth)
    set({ inspectorWidth })
  },
  showHelp: (helpOpen) => set({ helpOpen }),
  showPalette: (paletteOpen) => set({ paletteOpen }),
}))
