import { kindMeans, kindWord } from '../../../app/events/words.ts'
import { formatInt, formatNs, formatValue } from '../../drawing/format.ts'
import { type InspectorRow, useInspector } from '../../shell/Inspector.tsx'
import type { EventRow } from './model.ts'

/** `outAbsmax` as `out absmax`. */
const words = (name: string): string => name.replace(/[A-Z]/g, (c) => ` ${c.toLowerCase()}`)

const detailRows = (detail: string): InspectorRow[] => {
  const parsed: unknown = JSON.parse(detail)
  if (typeof parsed !== 'object' || parsed === null) return []
  return Object.entries(parsed).map(([name, value]: [string, unknown]) => {
    const number = Number(value)
    return {
      label: words(name),
      value: typeof value === 'number' || !Number.isFinite(number) ? formatValue(number) : String(value),
      copy: String(value),
    }
  })
}

const placeRow = (label: string, value: number | null): InspectorRow[] =>
  value === null || value < 0 ? [] : [{ label, value: formatInt(value), copy: String(value) }]

/** Everything about an event or a row of a partial. */
export const eventInspectorRows = (row: EventRow): InspectorRow[] => [
  { label: 'what', value: kindWord(row.kind), copy: row.kind },
  { label: 'severity', value: row.severity },
  ...placeRow('step', row.step),
  ...placeRow('layer', row.layer),
  ...placeRow('rank', row.rank),
  ...placeRow('request', row.request),
  ...placeRow('query row', row.qIndex),
  ...(row.timeNs === null
    ? []
    : [{ label: 'noticed at', value: formatNs(row.timeNs), copy: String(row.timeNs) }]),
  { label: 'said', value: row.message },
  ...detailRows(row.detail),
  ...(kindMeans(row.kind) === '' ? [] : [{ label: 'means', value: kindMeans(row.kind) }]),
]

/** Puts the event that the cursor is on into the inspector. */
export const useEventsInspector = (row: EventRow | null): void =>
  useInspector(
    {
      view: 'events',
      title: 'Event',
      rows: row === null ? null : eventInspectorRows(row),
      about: ['step', 'layer', 'rank', 'request', 'qIndex'],
    },
    [row],
  )
