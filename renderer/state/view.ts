import { create } from 'zustand'

export const VIEW_IDS = [
  'run',
  'timeline',
  'ownership',
  'merge',
  'throughput',
  'backends',
  'postmortem',
  'scenarios',
  'events',
] as const
export type ViewId = (typeof VIEW_IDS)[number]

export const VIEW_TITLES: Readonly<Record<ViewId, string>> = {
  run: 'Run',
  timeline: 'Timeline',
  ownership: 'Ownership',
  merge: 'Merge',
  throughput: 'Throughput',
  backends: 'Back-ends',
  postmortem: 'Post-mortem',
  scenarios: 'Scenarios',
  events: 'Events',
}

interface ViewStore {
  readonly view: ViewId
  readonly show: (view: ViewId) => void
}

/** Which view is shown. */
export const useView = create<ViewStore>((set) => ({
  view: 'run',
  show: (view) => set({ view }),
}))
