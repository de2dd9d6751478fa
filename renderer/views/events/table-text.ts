import { kindWord } from '../../../app/events/words.ts'
import type { Table } from '../../../app/messages/csv.ts'
import type { EventGrouping } from '../../../app/protocol/store.ts'
import { type EventGroup, type EventRow, groupWord } from './model.ts'

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
