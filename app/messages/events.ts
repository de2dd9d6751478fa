import { EVENT_KINDS, type EventKind, type Severity } from '../trace/stages.ts'

/**
 * One event as the engine counts it: one a kind and step, which names the first place and counts all.
 * `layer`, `rank`, `request`, `row` are -1 where they do not apply.
 */
export interface EventNumbers {
  readonly kind: EventKind
  readonly step: number
  readonly layer: number
  readonly rank: number
  readonly request: number
  /** Query row. */
  readonly row: number
  /** What was counted or measured: values, heads, requests, pages, bytes, or a relative error. */
  readonly value: number
  /** What `value` is held against, 0 where nothing is. */
  readonly limit: number
  /** Why something could not be done, where numbers do not say it. */
  readonly reason?: string
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
  message: `${sentence(event)}.`,
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
  kernels_recorded: 'info',
  kernels_not_recorded: 'warning',
}

const sentence = (event: EventNumbers): string => {
  const { kind, step, value, limit } = event
  switch (kind) {
    case 'nan_in_partial':
      return `${counted(value, 'NaN value')} in the partials of step ${step}${first(event)}`
    case 'inf_in_partial':
      return `${counted(value, 'infinite value')} in the partials of step ${step}${first(event)}`
    case 'nan_in_lse':
      return `${counted(value, 'NaN log-sum-exp', '')} in the partials of step ${step}${first(event)}`
    case 'empty_rank':
      return (
        `Rank ${event.rank} holds no key of ${value} of ${counted(limit, 'request')} at step ${step}, ` +
        `the first is request ${event.request}`
      )
    case 'nan_in_merged':
      return `${counted(value, 'NaN value')} in the merged output of step ${step}${first(event)}`
    case 'check_failed':
      return (
        `The merged output of step ${step} is off the reference by ${small(value)}, ` +
        `allowed is ${small(limit)}${first(event, 'worst')}`
      )
    case 'pool_full':
      return (
        `The page pool is full at step ${step}: the batch needs ${counted(value, 'page')}, ` +
        `the pool of a rank has ${limit}${first(event)}`
      )
    case 'capture_incomplete':
      return (
        `The capture of step ${step} is not whole: it would take ${value}, ` +
        `the limit is ${limit}${first(event, 'here')}`
      )
    case 'kernels_recorded':
      return (
        `${value} kernels, copies or fills of step ${step} recorded by CUPTI, ` +
        `within ${limit} ns of its stages; such a step is slower`
      )
    case 'kernels_not_recorded':
      return limit > 0
        ? `The kernels of step ${step} were not recorded: CUPTI gave ${value} records, which are not its ${limit}`
        : `The kernels of step ${step} were not recorded: ${event.reason ?? 'CUPTI cannot be used'}`
    default:
      return unknownKind(kind)
  }
}

const unknownKind = (kind: never): never => {
  throw new Error(`no sentence for event ${String(kind)}`)
}

/** `, first on rank 2, layer 1`: the place that the event names, as far as it names one. */
const first = ({ rank, layer, request, row }: EventNumbers, word = 'first'): string => {
  const places = [
    ['rank', rank],
    ['layer', layer],
    ['request', request],
    ['row', row],
  ] as const
  const named = places.flatMap(([name, n]) => (n < 0 ? [] : [`${name} ${n}`]))
  return named.length === 0 ? '' : `, ${word} on ${named.join(', ')}`
}

const counted = (n: number, noun: string, plural = 's'): string => `${n} ${noun}${n === 1 ? '' : plural}`

const small = (n: number): string => (Number.isFinite(n) ? n.toExponential(2) : String(n))

const detail = ({ row, value, limit }: EventNumbers): string =>
  JSON.stringify({ ...(row < 0 ? {} : { row }), value: jsonNumber(value), limit: jsonNumber(limit) })

const jsonNumber = (n: number): number | string => (Number.isFinite(n) ? n : String(n))
