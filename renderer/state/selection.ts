import { create } from 'zustand'

/** What is picked out in every view at once; null where nothing is. Indices as in the trace, time on the clock of the run. */
export interface Selection {
  readonly step: number | null
  readonly layer: number | null
  readonly rank: number | null
  readonly request: number | null
  readonly qIndex: number | null
  readonly head: number | null
  readonly token: number | null
  /** Physical page of the pool. */
  readonly page: number | null
  readonly timeNs: number | null
  /** Of a sweep: tokens of each request, and requests that are asked for. */
  readonly context: number | null
  readonly concurrency: number | null
}

export const NO_SELECTION: Selection = {
  step: null,
  layer: null,
  rank: null,
  request: null,
  qIndex: null,
  head: null,
  token: null,
  page: null,
  timeNs: null,
  context: null,
  concurrency: null,
}

interface SelectionStore extends Selection {
  /** Takes the given parts over the present ones; null clears a part. */
  readonly select: (parts: Partial<Selection>) => void
  readonly clear: () => void
}

export const SELECTION_KEYS = Object.keys(NO_SELECTION) as (keyof Selection)[]

/** The one selection of all views. */
export const useSelection = create<SelectionStore>((set) => ({
  ...NO_SELECTION,
  select: (parts) => set(parts),
  clear: () => set(NO_SELECTION),
}))

/** What is selected, without what changes it. */
export const selectionNow = (): Selection => {
  const now = useSelection.getState()
  return { ...NO_SELECTION, ...Object.fromEntries(SELECTION_KEYS.map((key) => [key, now[key]])) }
}
