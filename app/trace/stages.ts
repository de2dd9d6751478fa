/**
 * Stages of one layer's decode step in the order in which a rank runs them. The index of a name is its
 * code in the native trace, so names are only ever appended.
 */
export const STAGES = [
  'metadata',
  'q_all_gather',
  'kv_append',
  'decode_attn',
  'split_combine',
  'neutralize',
  'lse_all_gather',
  'lse_correct',
  'out_reduce_scatter',
  'out_all_to_all',
  'merge',
  'rest_of_layer',
  'graph_replay',
  'stall',
] as const

export type Stage = (typeof STAGES)[number]

/** What a stage spends its time on: decides its colour family. */
export type StageFamily = 'compute' | 'communication' | 'memory' | 'merge' | 'waiting'

export const STAGE_FAMILY: Readonly<Record<Stage, StageFamily>> = {
  metadata: 'memory',
  q_all_gather: 'communication',
  kv_append: 'memory',
  decode_attn: 'compute',
  split_combine: 'compute',
  neutralize: 'memory',
  lse_all_gather: 'communication',
  lse_correct: 'merge',
  out_reduce_scatter: 'communication',
  out_all_to_all: 'communication',
  merge: 'merge',
  rest_of_layer: 'compute',
  graph_replay: 'compute',
  stall: 'waiting',
}

/** Stages whose spans contain those of others of the rank: their time is none of its own, and counts in no total. */
export const OUTER_STAGES: readonly Stage[] = ['graph_replay']

/** Where a number comes from; everything that is not `measured` is labelled wherever it stands. */
export const PROVENANCES = [
  'measured',
  'emulated',
  'scaled',
  'predicted',
  'imported',
  'published',
  'time-sliced',
] as const
export type Provenance = (typeof PROVENANCES)[number]

/** Kinds of event; the index is the native code. */
export const EVENT_KINDS = [
  'nan_in_partial',
  'inf_in_partial',
  'nan_in_lse',
  'empty_rank',
  'nan_in_merged',
  'check_failed',
  'pool_full',
  'capture_incomplete',
  'kernels_recorded',
  'kernels_not_recorded',
] as const
export type EventKind = (typeof EVENT_KINDS)[number]

export const SEVERITIES = ['info', 'warning', 'error'] as const
export type Severity = (typeof SEVERITIES)[number]
