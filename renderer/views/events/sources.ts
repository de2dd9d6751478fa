import { type EventGrouping, MAX_EVENT_ROWS } from '../../../app/protocol/store.ts'
import { formatInt } from '../../drawing/format.ts'
import { allRows, type TableSource } from '../../export/table-source.ts'
import type { EventLook } from '../../state/events.ts'
import { tell } from '../../state/messages.ts'
import { request } from '../../state/store-client.ts'
import { type EventGroup, filterOfGroup, groupWord } from './model.ts'
import { eventTable, groupTable } from './table-text.ts'

/** Events that one file has at most: a query of the command line has no such limit. */
const MOST = 500_000

/** The groups, to be saved. */
export const groupSource = (by: EventGrouping, groups: readonly EventGroup[]): TableSource => ({
  name: `Events by ${by}`,
  read: () => groupTable(by, groups),
})

/** All events of a group, not only the page that is listed, to be saved. */
export const eventSource = (
  run: string,
  { filter, by }: Pick<EventLook, 'filter' | 'by'>,
  group: EventGroup,
): TableSource => ({
  name: `${filter.level === 'rows' ? 'Rows of partials' : 'Events'} ${groupWord(by, group.key)}`,
  read: async (work) => {
    const of = filterOfGroup(filter, by, group.key)
    const rows = await allRows(work, MAX_EVENT_ROWS, Math.min(group.count, MOST), (from, signal) =>
      request('eventRows', { run, filter: of, from, max: MAX_EVENT_ROWS }, { signal }),
    )
    if (rows.length < group.count)
      tell(
        'warning',
        `The first ${formatInt(rows.length)} of ${formatInt(group.count)} are saved; filter, or query the bundle, for others.`,
      )
    return eventTable(rows)
  },
})
