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

interface Calculator {
  readonly picture: OwnershipPicture
  /** Whether the open run is shown when there is one. */
  readonly followRun: boolean
  /** Fields that a person changed; the rest follows the run form. */
  readonly edits: Partial<CalculatorFields>
  /** The rule that is shown beside the other; null for none. */
  readonly beside: { readonly dcp: number; readonly interleave: number } | null
  readonly draw: (picture: OwnershipPicture) => void
  readonly setBeside: (beside: Calculator['beside']) => void
  readonly setFollowRun: (followRun: boolean) => void
  readonly edit: (edits: Partial<CalculatorFields>) => void
  readonly reset: () => void
}

/** What Ownership shows, the run or its calculator; other views can fill the calculator before they show it. */
export const useCalculator = create<Calculator>((set) => ({
  picture: 'strip',
  followRun: true,
  edits: {},
  beside: null,
  draw: (picture) => set({ picture }),
  setBeside: (beside) => set({ beside }),
  setFollowRun: (followRun) => set({ followRun }),
  edit: (edits) => set((state) => ({ edits: { ...state.edits, ...edits } })),
  reset: () => set({ edits: {} }),
}))
