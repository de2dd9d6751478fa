import { kindWord } from '../../../app/events/words.ts'
import type { EventFilter, EventGrouping, StoreResult } from '../../../app/protocol/store.ts'
import type { Severity } from '../../../app/trace/stages.ts'
import { formatInt } from '../../drawing/format.ts'
import type { EventLook, GroupKey } from '../../state/events.ts'
import type { Selection } from '../../state/selection.ts'

export type EventGroup = StoreResult<'eventGroups'>['list'][number]
export type EventRow = StoreResult<'eventRows'>[number]

/** Events that are listed at once. */
export const PAGE = 50

export const SEVERITY_TONES: Readonly<Record<Severity, string>> = {
  info: 'badge',
  warning: 'badge badge-warn',
  error: 'badge badge-bad',
}

const NONE: Readonly<Record<EventGrouping, string>> = {
  kind: '',
  rank: 'no rank',
  layer: 'whole step',
  request: 'no request',
  step: '',
}

/** What a group is called. */
export const groupWord = (by: EventGrouping, key: GroupKey): string => {
  if (by === 'kind') return kindWord(String(key))
  return Number(key) < 0 ? NONE[by] : `${by} ${formatInt(Number(key))}`
}

/** The events of one group: the filter, narrowed by what the group is of. */
export const filterOfGroup = (filter: EventFilter, by: EventGrouping, key: GroupKey): EventFilter => {
  if (by === 'kind') return { ...filter, kinds: [String(key)] }
  const place = Number(key)
  return by === 'step' ? { ...filter, fromStep: place, toStep: place } : { ...filter, [by]: place }
}

/** The filter that leaves only what is selected; a part that is not selected leaves all. */
export const filterOfSelection = ({ step, layer, rank, request }: Selection): Partial<EventFilter> => ({
  layer,
  rank,
  request,
  fromStep: step,
  toStep: step,
})

/** What an event or row is about, as it is selected. */
export const placeOf = (
  row: Pick<EventRow, 'step' | 'layer' | 'rank' | 'request' | 'qIndex'> & { readonly timeNs?: number | null },
): Partial<Selection> => ({
  step: row.step,
  layer: row.layer < 0 ? null : row.layer,
  rank: row.rank,
  request: row.request,
  qIndex: row.qIndex,
  timeNs: row.timeNs ?? null,
})

/** The place of an event in words: `step 3, layer 0, rank 2`. */
export const placeText = ({ step, layer, rank, request, qIndex }: EventRow): string =>
  [
    `step ${formatInt(step)}`,
    ...(layer < 0 ? [] : [`layer ${formatInt(layer)}`]),
    ...(rank === null ? [] : [`rank ${formatInt(rank)}`]),
    ...(request === null ? [] : [`request ${formatInt(request)}`]),
    ...(qIndex === null ? [] : [`query row ${formatInt(qIndex)}`]),
  ].join(', ')

/** Which steps a group lies in. */
export const stepsText = ({ steps, firstStep, lastStep }: EventGroup): string =>
  steps === 1
    ? `step ${formatInt(firstStep)}`
    : `${formatInt(steps)} steps, ${formatInt(firstStep)} to ${formatInt(lastStep)}`

type Cursor = Pick<EventLook, 'group' | 'event' | 'from' | 'open'>

/**
 * Where the cursor goes by `by` places over the groups and, below the open one, its events; pages follow it. Null where there is
 * nothing to go to.
 */
export const movedCursor = (
  look: Cursor,
  groups: readonly EventGroup[],
  by: 1 | -1,
): Partial<EventLook> | null => {
  if (groups.length === 0) return null
  const at = groups.findIndex(({ key }) => key === look.group)
  const onOpen = look.open !== null && look.group === look.open
  const count = at < 0 ? 0 : (groups[at]?.count ?? 0)
  const toGroup = (place: number, last = false): Partial<EventLook> | null => {
    const group = groups[place]
    if (group === undefined) return null
    return last && group.key === look.open && group.count > 0
      ? toEvent(group.count - 1, group.key)
      : { group: group.key, event: null }
  }
  const toEvent = (event: number, group: GroupKey | null): Partial<EventLook> => ({
    group,
    event,
    from: Math.floor(event / PAGE) * PAGE,
  })
  if (at < 0) return toGroup(0)
  const event = onOpen ? look.event : null
  if (by === 1) {
    const next = event === null ? 0 : event + 1
    return onOpen && next < count ? toEvent(next, look.group) : toGroup(at + 1)
  }
  if (event === null) return toGroup(at - 1, true)
  return event === 0 ? { event: null } : toEvent(event - 1, look.group)
}

/** The page that begins at `from` in words. */
export const pageText = (from: number, rows: number, total: number): string =>
  rows === 0 ? 'none' : `${formatInt(from + 1)} to ${formatInt(from + rows)} of ${formatInt(total)}`
