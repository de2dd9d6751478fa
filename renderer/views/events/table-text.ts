import { kindWord } from '../../../app/events/words.ts'
import type { Cell } from '../../../app/messages/csv.ts'
import type { EventGrouping } from '../../../app/protocol/store.ts'
import { type EventGroup, type EventRow, groupWord } from './model.ts'

/** A table as it leaves the window. */
export interface Table {
  readonly header: readonly string[]
  readonly rows: readonly (readonly Cell[])[]
}

/** The groups, with exact numbers; `key` is what queries call them. */
export const groupTable = (by: EventGrouping, groups: readonly EventGroup[]): Table => ({
  header: [by, 'key', 'severity', 'count', 'steps', 'first_step', 'last_step'],
  rows: groups.map((group) => [
    groupWord(by, group.key),
    group.key,
    group.severity,
    group.count,
    group.steps,
    group.firstStep,
    group.lastStep,
  ]),
})

/** Events or rows of partials. */
export const eventTable = (events: readonly EventRow[]): Table => ({
  header: [
    'step',
    'layer',
    'rank',
    'request',
    'q_index',
    'time_ns',
    'kind',
    'what',
    'severity',
    'message',
    'detail',
  ],
  rows: events.map((event) => [
    event.step,
    event.layer,
    event.rank,
    event.request,
    event.qIndex,
    event.timeNs,
    event.kind,
    kindWord(event.kind),
    event.severity,
    event.message,
    event.detail,
  ]),
})

/** Lines with tabs, which spreadsheets and editors take from the clipboard. */
export const tabText = ({ header, rows }: Table): string =>
  [header, ...rows].map((row) => row.map((cell) => cell ?? '').join('\t')).join('\n')

/** Name of the file that a table is saved as. */
export const fileName = (run: string, level: string, part: string): string =>
  `${`${run} ${level} ${part}`.replace(/[^\w. -]+/g, '-').replace(/^[^\w]+/, '')}.csv`.slice(-120)
