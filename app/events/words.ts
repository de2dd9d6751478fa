import { EVENT_KINDS, type EventKind } from '../trace/stages.ts'
import { ROW_KINDS, type RowKind } from './row-kinds.ts'

/**
 * The two levels at which a run says what is worth a look: `events`, one a kind and step, which name the first place; `rows`,
 * every query row of every rank's partial that is bad or empty.
 */
export const EVENT_LEVELS = ['events', 'rows'] as const
export type EventLevel = (typeof EVENT_LEVELS)[number]

export type AnyKind = EventKind | RowKind

export const KINDS_OF: Readonly<Record<EventLevel, readonly AnyKind[]>> = {
  events: EVENT_KINDS,
  rows: ROW_KINDS,
}

/** What a kind is called in lists. */
export const KIND_WORDS: Readonly<Record<AnyKind, string>> = {
  nan_in_partial: 'NaN in partials',
  inf_in_partial: 'Infinite values in partials',
  nan_in_lse: 'NaN in lse',
  empty_rank: 'Rank without keys',
  nan_in_merged: 'NaN in merged output',
  check_failed: 'Off the reference',
  pool_full: 'Page pool full',
  capture_incomplete: 'Capture not whole',
  kernels_recorded: 'Kernels recorded',
  kernels_not_recorded: 'Kernels not recorded',
  nan_in_row: 'NaN in out, row with keys',
  inf_in_row: 'Infinite out, row with keys',
  lse_in_row: 'NaN or +∞ lse, row with keys',
  empty_row_left: 'Row without keys, not neutral',
  empty_row: 'Row without keys',
}

/** What a kind means, in a sentence. */
export const KIND_MEANS: Readonly<Record<AnyKind, string>> = {
  nan_in_partial:
    'Partials hold NaN as the kernels returned them; in rows without keys that is made neutral before the merge.',
  inf_in_partial: 'Partials hold infinite values as the kernels returned them.',
  nan_in_lse: 'The lse of a partial is NaN, which merges read as a rank without keys.',
  empty_rank: 'A rank holds no key of some requests: short ones lie on few ranks.',
  nan_in_merged: 'A merged row is NaN: what comes after attention is lost.',
  check_failed: 'A merged row is further off the unsharded reference than is allowed.',
  pool_full: 'The batch needs more pages than the pool of a rank has.',
  capture_incomplete: 'Tensors of a step were left out, as they would take more than the limit.',
  kernels_recorded: 'CUPTI recorded the kernels of a step, which makes it slower.',
  kernels_not_recorded: 'The kernels of a step were asked for and are not there.',
  nan_in_row:
    'A row with keys is NaN in a partial: attention of that rank went wrong, and the merge spreads it.',
  inf_in_row: 'A row with keys is infinite in a partial.',
  lse_in_row: 'A row with keys has an lse that merges read as "no keys": what the rank holds is lost.',
  empty_row_left:
    'The kernel left values in a row without keys; harmless if it is made (out 0, lse −∞) before the merge.',
  empty_row: 'The rank holds no key that the row may see, and its partial is (out 0, lse −∞).',
}

const isKind = (kind: string): kind is AnyKind => Object.hasOwn(KIND_WORDS, kind)

/** What a kind is called; the kind itself where a newer bundle brings one. */
export const kindWord = (kind: string): string => (isKind(kind) ? KIND_WORDS[kind] : kind)

export const kindMeans = (kind: string): string => (isKind(kind) ? KIND_MEANS[kind] : '')
