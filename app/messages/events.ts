import { EVENT_KINDS, type EventKind, type Severity } from '../trace/stages.ts'

/** One event as the engine counts it. `rank`, `request`, `row` are -1 where they do not apply, `layer` -1 for the whole step. */
export interface EventNumbers {
  readonly kind: EventKind
  readonly step: number
  readonly layer: number
  readonly rank: number
  readonly request: number
  /** Query row of the batch (t), the first one concerned. */
  readonly row: number
  /** What was counted or measured: values, heads, tokens, or a relative error. */
  readonly value: number
  /** What `value` is held against, 0 where nothing is. */
  readonly limit: number
}

export interface EventText {
  readonly severity: Severity
  /** One sentence. */
  readonly message: string
  /** JSON object with the numbers behind the sentence; non-finite numbers are text there. */
  readonly detail: string
}

/** Kind of a native event code; undefined for a code of a newer engine. */
export const eventKind = (code: number): EventKind | undefined => EVENT_KINDS[code]

export const eventText = (event: EventNumbers): EventText => ({
  severity: SEVERITY[event.kind],
  message: `${sentence(event)}${place(event)}.`,
  detail: detail(event),
})

const SEVERITY: Readonly<Record<EventKind, Severity>> = {
  nan_in_partial: 'error',
  inf_in_partial: 'error',
  // Merges read a NaN lse as "no keys", so alone it changes nothing.
  nan_in_lse: 'warning',
  empty_rank: 'info',
  nan_in_merged: 'error',
  check_failed: 'error',
  pool_full: 'error',
  capture_incomplete: 'warning',
}

const sentence = ({ kind, rank, request, value, limit }: EventNumbers): string => {
  const who = rank < 0 ? 'A rank' : `Rank ${rank}`
  switch (kind) {
    case 'nan_in_partial':
      return `${who} gave ${counted(value, 'NaN value')} in its partial`
    case 'inf_in_partial':
      return `${who} gave ${counted(value, 'infinite value')} in its partial`
    case 'nan_in_lse':
      return `${who} gave NaN as log-sum-exp for ${counted(value, 'head')}`
    case 'empty_rank':
      return `${who} holds no key of ${request < 0 ? 'a request' : `request ${request}`}`
    case 'nan_in_merged':
      return `The merged output has ${counted(value, 'NaN value')}`
    case 'check_failed':
      return `The merged output is off the reference by ${small(value)} (allowed ${small(limit)})`
    case 'pool_full':
      return `The page pool is full: ${counted(value, 'page')} needed, ${limit} there`
    case 'capture_incomplete':
      return 'A capture left tensors out'
    default:
      return unknownKind(kind)
  }
}

const unknownKind = (kind: never): never => {
  throw new Error(`no sentence for event ${String(kind)}`)
}

/** Where it happened, without what the sentence has said already. */
const place = ({ kind, step, layer, request, row }: EventNumbers): string => {
  const parts = [`step ${step}`]
  if (layer >= 0) parts.push(`layer ${layer}`)
  if (request >= 0 && kind !== 'empty_rank') parts.push(`request ${request}`)
  if (row >= 0 && kind !== 'empty_rank') parts.push(`row ${row}`)
  return `: ${parts.join(', ')}`
}

const counted = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? '' : 's'}`

const small = (n: number): string => (Number.isFinite(n) ? n.toExponential(2) : String(n))

const detail = ({ row, value, limit }: EventNumbers): string =>
  JSON.stringify({ ...(row < 0 ? {} : { row }), value: jsonNumber(value), limit: jsonNumber(limit) })

const jsonNumber = (n: number): number | string => (Number.isFinite(n) ? n : String(n))
