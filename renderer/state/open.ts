import { create } from 'zustand'
import type { DesktopState } from '../../app/protocol/desktop.ts'
import type { RunInfo, RunRef } from '../../app/protocol/store.ts'
import { NO_SELECTION, type Selection } from './selection.ts'

/** Something that is open: the bundle of a run or sweep, or a tensor dump. Ids of the two never meet. */
export interface OpenItem {
  readonly kind: 'run' | 'dump'
  readonly id: string
}

/** What an id is of: those of dumps begin with their name. */
export const itemOf = (id: string): OpenItem => ({ kind: id.startsWith('dump-') ? 'dump' : 'run', id })

interface OpenStore {
  /** In the order in which they were opened. */
  readonly items: readonly OpenItem[]
  /** What was selected of each when it was left. */
  readonly left: ReadonlyMap<string, Selection>
  readonly add: (item: OpenItem) => void
  readonly remove: (id: string) => void
  readonly leave: (id: string, selection: Selection) => void
}

/** What is open, of which one is shown. */
export const useOpen = create<OpenStore>((set, get) => ({
  items: [],
  left: new Map(),
  add: (item) => {
    if (get().items.every(({ id }) => id !== item.id)) set({ items: [...get().items, item] })
  },
  remove: (id) =>
    set(({ items, left }) => ({
      items: items.filter((item) => item.id !== id),
      left: new Map([...left].filter(([key]) => key !== id)),
    })),
  leave: (id, selection) => set(({ left }) => ({ left: new Map([...left, [id, selection]]) })),
}))

/** What was selected of it when it was left. */
export const selectionLeft = (id: string): Selection => useOpen.getState().left.get(id) ?? NO_SELECTION

/** The item `by` places behind the one with `id`, round and round; undefined where there is no other. */
export const neighbour = (
  items: readonly OpenItem[],
  id: string | null,
  by: 1 | -1,
): OpenItem | undefined => {
  const at = items.findIndex((item) => item.id === id)
  if (at < 0) return by > 0 ? items[0] : items.at(-1)
  return items.length < 2 ? undefined : items[(at + by + items.length) % items.length]
}

interface Known {
  readonly runs: readonly RunRef[]
  readonly openRun: RunInfo | null
  readonly desktop: DesktopState | null
}

/** What an open thing is called. */
export const nameOf = ({ kind, id }: OpenItem, { runs, openRun, desktop }: Known): string => {
  if (kind === 'dump') return desktop?.dumps.find((dump) => dump.id === id)?.name ?? 'Dump'
  return runs.find((run) => run.id === id)?.name ?? (openRun?.id === id ? openRun.manifest.name : 'New run')
}
