import { create } from 'zustand'

export const DUMP_PARTS = ['findings', 'tensors', 'contents'] as const
export type DumpPart = (typeof DUMP_PARTS)[number]

interface DumpStore {
  /** Id of the dump that is looked at; null for what the open run captured. */
  readonly dump: string | null
  /** Which part of Post-mortem is shown. */
  readonly part: DumpPart
  /** A row of the next step and layer that is shown, to be selected once it is known which request it is of. */
  readonly row: number | null
  readonly show: (dump: string | null) => void
  readonly look: (part: DumpPart, row?: number) => void
  /** The row is selected. */
  readonly found: () => void
}

/** What Post-mortem is about; other views can say before they show it. */
export const useDump = create<DumpStore>((set) => ({
  dump: null,
  part: 'findings',
  row: null,
  show: (dump) => set({ dump, row: null }),
  look: (part, row) => set({ part, row: row ?? null }),
  found: () => set({ row: null }),
}))
