import { create } from 'zustand'
import { type Found, foundIn, shownView } from '../../export/found.ts'
import { useView } from '../../state/view.ts'

/** An open menu: what it offers, and where in pixels of the window. */
export interface OpenMenu {
  readonly all: readonly Found[]
  readonly x: number
  readonly y: number
  /** Whether it is that of the whole view, whose right edge is at `x`; else that of one thing, whose left edge is there. */
  readonly whole: boolean
}

interface ExportMenu {
  readonly open: OpenMenu | null
  readonly show: (menu: OpenMenu) => void
  /** Offers what the view has now, if that is something else. */
  readonly refresh: () => void
  readonly close: () => void
}

const namesOf = (all: readonly Found[]): string => all.map(({ kind, name }) => `${kind} ${name}`).join('\n')

/** The menu of what can be saved. */
export const useExportMenu = create<ExportMenu>((set, get) => ({
  open: null,
  show: (open) => set({ open }),
  refresh: () => {
    const { open } = get()
    if (open?.whole !== true) return
    const all = foundNow()
    if (namesOf(all) !== namesOf(open.all)) set({ open: { ...open, all } })
  },
  close: () => set({ open: null }),
}))

/** Every picture and table of the shown view. */
export const foundNow = (): readonly Found[] => {
  const view = shownView()
  return view === null ? [] : foundIn(view, useView.getState().view)
}

/** Opens the menu of the whole view below its button, or closes it. */
export const toggleExportMenu = (): void => {
  const { open, show, close } = useExportMenu.getState()
  if (open !== null) {
    close()
    return
  }
  const box = document.getElementById(EXPORT_BUTTON)?.getBoundingClientRect()
  const [x, y] = [box?.right ?? window.innerWidth, (box?.bottom ?? 0) + 4]
  show({ all: foundNow(), x, y, whole: true })
}

export const EXPORT_BUTTON = 'export-button'
