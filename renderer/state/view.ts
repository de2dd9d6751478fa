import { create } from 'zustand'

export const VIEW_IDS = ['run', 'timeline', 'ownership', 'merge', 'throughput'] as const
export type ViewId = (typeof VIEW_IDS)[number]

interface ViewStore {
  readonly view: ViewId
  readonly show: (view: ViewId) => void
}

/** Which view is shown. */
export const useView = create<ViewStore>((set) => ({
  view: 'run',
  show: (view) => set({ view }),
}))
