import { z } from 'zod'
import {
  count,
  field,
  MAX_CONTEXT,
  MAX_DCP_SIZE,
  MAX_Q_LEN,
  MAX_REQUESTS,
  runConfigSchema,
} from '../run/config.ts'

/**
 * The configuration of a sweep: one run configuration as its base, and lists of what varies over it. Every combination of
 * the lists is a point. Schema, defaults and words in the style of the run configuration.
 */

const MAX_LIST = 64
/** Combinations of all lists. */
export const MAX_POINTS = 20_000

const list = <T extends z.ZodType>(entry: T) => z.array(entry).min(1).max(MAX_LIST)

export const MODES = ['tp', 'dcp'] as const
export type Mode = (typeof MODES)[number]

/** What a collective of the table does; `p2p` is the whole exchange of the transport of that name. */
export const COLLECTIVES = ['all_gather', 'reduce_scatter', 'all_to_all', 'p2p'] as const
export type Collective = (typeof COLLECTIVES)[number]

const memory = z.strictObject({
  bytes: field(
    count(1, 2 ** 50).optional(),
    'GPU memory',
    'Memory of one GPU. Default: that of the device which measures.',
    'bytes',
  ),
  utilisation: field(
    z.number().positive().max(1).default(0.9),
    'Utilisation',
    'Part of it that weights and KV pool may take.',
  ),
  weightBytes: field(
    count(0, 2 ** 50).optional(),
    'Weights',
    'Weights of one rank. Default: those of the model that the base names, 0 where it names none.',
    'bytes',
  ),
})

const timing = z.strictObject({
  collective: field(z.enum(COLLECTIVES), 'Collective', 'What was timed.'),
  ranks: field(count(2, 1024), 'Ranks', 'Ranks of the group.', 'ranks'),
  bytes: field(count(0, 2 ** 40), 'Bytes', 'Bytes that one rank receives from all others together.', 'bytes'),
  us: field(z.number().positive().max(1_000_000), 'Time', 'From the last entry to the end.', 'us'),
})
export type CollectiveTiming = z.output<typeof timing>

/** Shape and ranges only; `parseSweepConfig` (parse.ts) adds presets and the rules between fields. */
export const sweepConfigSchema = z.strictObject({
  base: field(
    runConfigSchema.prefault({}),
    'Base',
    'Run configuration of every point; what a list gives, and what a sweep does not keep, is not named here.',
  ),
  mode: field(
    list(z.enum(MODES)).default(['tp', 'dcp']),
    'Modes',
    'tp is the baseline: the same ranks, each with the whole KV cache.',
  ),
  dcp: field(
    list(count(1, MAX_DCP_SIZE)).default([2, 4, 8]),
    'DCP sizes',
    'Ranks over which one KV cache is dealt out, in dcp mode.',
    'ranks',
  ),
  comm: field(
    list(z.enum(['ag_rs', 'a2a', 'p2p'])).default(['ag_rs', 'a2a']),
    'Transports',
    'How partials are exchanged, in dcp mode.',
  ),
  kvDtype: field(
    list(z.enum(['fp32', 'bf16', 'fp8', 'fp8_ds_mla'])).default(['bf16']),
    'KV types',
    'Types of cached keys and values.',
  ),
  qLen: field(
    list(count(1, MAX_Q_LEN)).default([1]),
    'Query lengths',
    'Query tokens a request and step.',
    'tokens',
  ),
  context: field(
    list(count(1, MAX_CONTEXT)).default([1024, 4096, 16_384, 65_536]),
    'Contexts',
    'Tokens in the cache of every request before the first step.',
    'tokens',
  ),
  concurrency: field(
    list(count(1, MAX_REQUESTS)).default([1, 4, 16, 64]),
    'Concurrency',
    'Requests at once; what the KV pool cannot hold waits.',
  ),
  repeats: field(count(1, 100).default(3), 'Repeats', 'Runs of every point; their spread is the confidence.'),
  warmup: field(count(0, 10_000).default(2), 'Warm-up', 'Steps of every run before the first measured one.'),
  steps: field(count(1, 10_000).default(8), 'Steps', 'Measured steps of every run.'),
  memory: field(memory.prefault({}), 'Memory', 'How many tokens the KV pool of a rank holds.'),
  collectives: field(
    z.array(timing).max(4096).default([]),
    'Collective timings',
    'Measured timings between GPUs, from which transports are predicted. Default: a model of NCCL over NVLink.',
  ),
})

export type SweepConfig = z.output<typeof sweepConfigSchema>
export type SweepConfigInput = z.input<typeof sweepConfigSchema>
