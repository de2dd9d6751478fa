import { create } from 'zustand'
import { load, loadNumber, save } from '../../../state/kept.ts'

/** Tables below the lanes. */
export const PANELS = ['stats', 'path', 'notes', 'drawn'] as const
export type PanelId = (typeof PANELS)[number]

export const PANEL_WORDS: Readonly<Record<PanelId, { readonly title: string; readonly key: string }>> = {
  stats: { title: 'Statistics', key: 'T' },
  path: { title: 'Critical path', key: 'K' },
  notes: { title: 'Notes', key: 'E' },
  drawn: { title: 'Table', key: 'V' },
}

export const PANEL_HEIGHT = { least: 96, most: 900, start: 230 } as const

interface PanelStore {
  readonly open: PanelId | null
  /** Pixels. */
  readonly height: number
  readonly toggle: (panel: PanelId) => void
  readonly show: (panel: PanelId | null) => void
  readonly resize: (height: number) => void
}

const loadOpen = (): PanelId | null => {
  const kept = load('timelinePanel')
  return PANELS.find((panel) => panel === kept) ?? null
}

/** Which panel is open and how high; kept for the next start. */
export const usePanels = create<PanelStore>((set, get) => {
  const show = (open: PanelId | null): void => {
    save('timelinePanel', open)
    set({ open })
  }
  return {
    open: loadOpen(),
    height: loadNumber('timelinePanelHeight', PANEL_HEIGHT.start, PANEL_HEIGHT.least, PANEL_HEIGHT.most),
    toggle: (panel) => show(get().open === panel ? null : panel),
    show,
    resize: (wanted) => {
      const height = Math.min(PANEL_HEIGHT.most, Math.max(PANEL_HEIGHT.least, Math.round(wanted)))
      save('timelinePanelHeight', height)
      set({ height })
    },
  }
})
