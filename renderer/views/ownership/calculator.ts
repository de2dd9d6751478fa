import { create } from 'zustand'
import type { CalculatorFields } from './source.ts'

interface Calculator {
  /** Whether the open run is shown when there is one. */
  readonly followRun: boolean
  /** Fields that a person changed; the rest follows the run form. */
  readonly edits: Partial<CalculatorFields>
  readonly setFollowRun: (followRun: boolean) => void
  readonly edit: (edits: Partial<CalculatorFields>) => void
  readonly reset: () => void
}

/** Choices of the ownership view that outlive a change of view. */
export const useCalculator = create<Calculator>((set) => ({
  followRun: true,
  edits: {},
  setFollowRun: (followRun) => set({ followRun }),
  edit: (edits) => set((state) => ({ edits: { ...state.edits, ...edits } })),
  reset: () => set({ edits: {} }),
}))
