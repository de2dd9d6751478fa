import { create } from 'zustand'

interface StepTableStore {
  readonly asTable: boolean
  readonly toggle: () => void
}

/** Whether differences over steps are a table, which they stay while other views are shown. */
export const useStepTable = create<StepTableStore>((set) => ({
  asTable: false,
  toggle: () => set(({ asTable }) => ({ asTable: !asTable })),
}))
