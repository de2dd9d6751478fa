import { create } from 'zustand'

interface SearchStore {
  readonly text: string
  /** Whether results are shown. */
  readonly open: boolean
  readonly type: (text: string) => void
  readonly show: (open: boolean) => void
}

/** What is searched for in the open run; kept while other things are done. */
export const useSearch = create<SearchStore>((set) => ({
  text: '',
  open: false,
  type: (text) => set({ text, open: true }),
  show: (open) => set({ open }),
}))
