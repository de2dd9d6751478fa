import { create } from 'zustand'

/** Parameters as they stand in the calculator's fields; nothing is checked yet. */
export interface CalculatorFields {
  readonly len: number
  readonly dcp: number
  readonly interleave: number
  readonly page: number
}

/** How the tokens of a request are drawn: along a line with the ranks' shards below, or wound on a ring. */
export type OwnershipPicture = 'strip' | 'ring'

/** A step and layer of a tensor dump whose requests are shown. */
export interface DumpedBatch {
  readonly dump: string
  readonly name: string
  readonly step: number
  readonly layer: number
  /** Tokens of each request. */
  readonly lens: readonly number[]
  /** Whether every rank of the group says how many keys it counts. */
  readonly counted: boolean
  readonly dcp: number
  readonly interleave: number
  readonly page: number
}

/** What Ownership can show. */
export type OwnershipSource = 'run' | 'dump' | 'calculator'

interface Calculator {
  readonly picture: OwnershipPicture
  /** What is shown; without a run, or a dump, the calculator is. */
  readonly source: OwnershipSource
  /** The dump that another view handed over; null where none did. */
  readonly dumped: DumpedBatch | null
  /** Fields that a person changed; the rest follows the run form. */
  readonly edits: Partial<CalculatorFields>
  /** The rule that is shown beside the other; null for none. */
  readonly beside: { readonly dcp: number; readonly interleave: number } | null
  readonly draw: (picture: OwnershipPicture) => void
  readonly setBeside: (beside: Calculator['beside']) => void
  readonly setSource: (source: OwnershipSource) => void
  readonly showDumped: (dumped: DumpedBatch) => void
  readonly edit: (edits: Partial<CalculatorFields>) => void
  readonly reset: () => void
}

/** What Ownership shows: the run, a dump, or its calculator. */
export const useCalculator = create<Calculator>((set) => ({
  picture: 'strip',
  source: 'run',
  dumped: null,
  edits: {},
  beside: null,
  draw: (picture) => set({ picture }),
  setBeside: (beside) => set({ beside }),
  setSource: (source) => set({ source }),
  showDumped: (dumped) => set({ dumped, source: 'dump' }),
  edit: (edits) => set((state) => ({ edits: { ...state.edits, ...edits } })),
  reset: () => set({ edits: {} }),
}))
