import { create } from 'zustand'
import type { EventFilter, EventGrouping } from '../../app/protocol/store.ts'

export const NO_FILTER: EventFilter = {
  level: 'events',
  kinds: [],
  rank: null,
  layer: null,
  request: null,
  fromStep: null,
  toStep: null,
}

export type GroupKey = string | number

/** How a person looks at the events of one run; kept while other views are shown. */
export interface EventLook {
  readonly filter: EventFilter
  readonly by: EventGrouping
  /** The group whose events are listed. */
  readonly open: GroupKey | null
  /** Place of the first event that is listed. */
  readonly from: number
  /** Place within the open group of the event that the cursor is on; null where it is on a group. */
  readonly event: number | null
  /** Keys moved the cursor to an event, which is to be selected once it is read. */
  readonly picks: boolean
  /** The group that the cursor is on. */
  readonly group: GroupKey | null
}

const FIRST_LOOK: EventLook = {
  filter: NO_FILTER,
  by: 'kind',
  open: null,
  from: 0,
  event: null,
  picks: false,
  group: null,
}

const CLOSED = { open: null, from: 0, event: null, group: null, picks: false }

interface EventStore {
  readonly run: string | null
  readonly look: EventLook
  readonly change: (run: string | null, parts: Partial<EventLook>) => void
}

export const useEventStore = create<EventStore>((set) => ({
  run: null,
  look: FIRST_LOOK,
  change: (run, parts) => set((s) => ({ run, look: { ...(s.run === run ? s.look : FIRST_LOOK), ...parts } })),
}))

export interface EventControl {
  readonly look: EventLook
  readonly change: (parts: Partial<EventLook>) => void
  /** Other events are meant: what was open may be gone. */
  readonly narrow: (parts: Partial<EventFilter>) => void
  readonly group: (by: EventGrouping) => void
}

/** The look at `run`: what was kept of it, or the first one. */
export const useEventLook = (run: string | null): EventControl => {
  const look = useEventStore((s) => (s.run === run ? s.look : FIRST_LOOK))
  const keep = useEventStore((s) => s.change)
  const change = (parts: Partial<EventLook>): void => keep(run, parts)
  return {
    look,
    change,
    narrow: (parts) => {
      const filter = { ...look.filter, ...parts }
      // Kinds of one level are none of the other, and so are groups of them.
      const other = filter.level !== look.filter.level
      change({
        filter: other ? { ...filter, kinds: parts.kinds ?? [] } : filter,
        ...(other && look.by === 'kind' ? CLOSED : { from: 0, event: null }),
      })
    },
    group: (by) => change({ by, ...CLOSED }),
  }
}

/** Whether anything is left out. */
export const isNarrowed = (filter: EventFilter): boolean =>
  filter.kinds.length > 0 ||
  filter.rank !== null ||
  filter.layer !== null ||
  filter.request !== null ||
  filter.fromStep !== null ||
  filter.toStep !== null
