import { create } from 'zustand'

interface DumpStore {
  /** Id of the dump that is looked at; null for what the open run captured. */
  readonly dump: string | null
  readonly show: (dump: string | null) => void
}

/** Which dump Post-mortem is about. */
export const useDump = create<DumpStore>((set) => ({
  dump: null,
  show: (dump) => set({ dump }),
}))
