import { create } from 'zustand'

export const VIEW_IDS = [
  'run',
  'timeline',
  'ownership',
  'pages',
  'merge',
  'events',
  'throughput',
  'backends',
  'postmortem',
  'compare',
  'scenarios',
  'settings',
] as const
export type ViewId = (typeof VIEW_IDS)[number]

/** Number of the key that shows a view: its place in the rail; null beyond the ninth. */
export const viewDigit = (view: ViewId): number | null => {
  const place = VIEW_IDS.indexOf(view) + 1
  return place < 10 ? place : null
}

export const VIEW_TITLES: Readonly<Record<ViewId, string>> = {
  run: 'Run',
  timeline: 'Timeline',
  ownership: 'Ownership',
  pages: 'Pages',
  merge: 'Merge',
  throughput: 'Throughput',
  backends: 'Back-ends',
  postmortem: 'Post-mortem',
  compare: 'Compare',
  scenarios: 'Scenarios',
  events: 'Events',
  settings: 'Settings',
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
