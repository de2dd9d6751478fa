import { create } from 'zustand'
import type { Measure } from '../../../app/dump/survey.ts'

export interface Pick {
  readonly tensor: string | null
  /** Measure of the map, where the tensor has it. */
  readonly measure: Measure
  /** Row and column of tensors whose rows and columns are not those of the selection: pages, slots, columns, choices. */
  readonly place: { readonly row: number; readonly column: number }
  /** All of a large tensor is read. */
  readonly all: boolean
  /** The histogram is by powers of two. */
  readonly octaves: boolean
  /** Values of the picked cell are a table. */
  readonly table: boolean
}

interface PickStore extends Pick {
  readonly change: (parts: Partial<Pick>) => void
}

/** What of a dump is looked at, kept while other views are shown. */
export const usePick = create<PickStore>((set) => ({
  tensor: null,
  measure: 'absmax',
  place: { row: 0, column: 0 },
  all: false,
  octaves: false,
  table: false,
  change: (parts) => set(parts),
}))
