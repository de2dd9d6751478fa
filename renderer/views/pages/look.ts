import { create } from 'zustand'

/** What the colour of cells and pages says. */
export const COLOUR_MODES = ['owner', 'age', 'fill'] as const
export type ColourMode = (typeof COLOUR_MODES)[number]

export interface PagesLook {
  readonly mode: ColourMode
  /** Tables in place of the picture. */
  readonly asTable: boolean
  /** Of a step that was captured, what the run recorded is shown and not what its kernels got. */
  readonly recorded: boolean
  /** Zoom of the block table and of the pool; null fits them. */
  readonly tableZoom: number | null
  readonly poolZoom: number | null
  /** First request, mark of columns, and line of the pool in view. */
  readonly requestFrom: number
  readonly markFrom: number
  readonly lineFrom: number
  /** Column that is picked where no token says it. */
  readonly column: number
  /** The cell was picked just now, and its page and token are not selected yet. */
  readonly picking: boolean
}

interface LookStore extends PagesLook {
  readonly change: (parts: Partial<PagesLook>) => void
}

/** How the view looks at pages, kept while other views are shown. */
export const useLook = create<LookStore>((set) => ({
  mode: 'owner',
  asTable: false,
  recorded: false,
  tableZoom: null,
  poolZoom: null,
  requestFrom: 0,
  markFrom: 0,
  lineFrom: 0,
  column: 0,
  picking: false,
  change: (parts) => set(parts),
}))
