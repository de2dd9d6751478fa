import { z } from 'zod'
import { runConfigSchema } from '../run/config.ts'
import { sweepManifestSchema } from '../sweep/manifest.ts'
import { PROVENANCES, STAGES } from './stages.ts'

/**
 * `run.json` of a bundle. FORMAT_VERSION rises when a reader of the older version would misread the bundle;
 * docs/format.md keeps the changelog and `upgrade.ts` beside the store the upgraders.
 */
export const FORMAT_VERSION = 5

export const RUN_STATUSES = ['running', 'complete', 'stopped', 'interrupted', 'failed'] as const
export type RunStatus = (typeof RUN_STATUSES)[number]

/** `provenance` stands where not everything behind the numbers was measured. */
const micros = z.strictObject({
  p50Us: z.number(),
  p95Us: z.number(),
  provenance: z.enum(PROVENANCES).optional(),
})

/** Percentiles over the steps. */
const stepMs = z.strictObject({ p50: z.number(), p95: z.number() })

/** Numbers of a finished (or stopped) run; the same object stands in `run --json`. */
export const summarySchema = z.strictObject({
  device: z.string(),
  backend: z.string(),
  ranks: z.int(),
  steps: z.int(),
  tokensPerSecond: z.number(),
  /** Where tokensPerSecond and stepMs come from. */
  provenance: z.enum(PROVENANCES),
  stepMs,
  /** What the device took for all ranks in turn, measured; absent where ranks run at once and it is the step itself. */
  deviceStepMs: stepMs.optional(),
  /** Median step with tracing on and off, the same steps in turn, and the first over the second. */
  observerCost: z
    .strictObject({ tracedUs: z.number(), untracedUs: z.number(), ratio: z.number() })
    .optional(),
  /**
   * Steps whose kernels CUPTI recorded. They are slower, so all other numbers here leave them out, unless there are no
   * others (`counted`). Median step on the device with CUPTI on and, where there is one, of the others.
   */
  kernelTrace: z
    .strictObject({
      steps: z.int(),
      kernels: z.int(),
      recordedUs: z.number(),
      plainUs: z.number().optional(),
      counted: z.boolean(),
    })
    .optional(),
  /**
   * Tokens of all steps that the draft proposed, and those that count as accepted; absent without a draft, or where nothing
   * was checked. A proxy: a token counts where the output of the draft is within `tolerance` of its reference, relative.
   */
  draft: z.strictObject({ proposed: z.int(), accepted: z.int(), tolerance: z.number() }).optional(),
  stages: z.partialRecord(z.enum(STAGES), micros),
  check: z.strictObject({
    checkedRows: z.int(),
    /** null when nothing was checked. */
    maxAbsErr: z.number().nullable(),
    maxRelErr: z.number().nullable(),
    /** Rows of the `rows` table with a NaN in out or lse, and rows without keys. */
    nanRows: z.int(),
    emptyRows: z.int(),
    /** Relative error above which the check fails; ok is false when it was passed or a merged value is NaN. */
    tolerance: z.number(),
    ok: z.boolean(),
  }),
  dropped: z.int(),
})
export type RunSummary = z.output<typeof summarySchema>

export const manifestSchema = z.strictObject({
  format: z.literal('dcpscope-run'),
  formatVersion: z.int().min(1),
  name: z.string(),
  status: z.enum(RUN_STATUSES),
  /** Set when status is `failed` or `interrupted`: what happened, what was kept. */
  error: z.string().optional(),
  config: runConfigSchema,
  /** What of the run did not happen as it is shown, in sentences; absent where all did. */
  emulated: z.string().optional(),
  /** Why its times hold the work of other ranks, in sentences, where ranks in processes of their own share a GPU. */
  timeSliced: z.string().optional(),
  devices: z.array(z.strictObject({ name: z.string(), kind: z.enum(['cpu', 'cuda']), detail: z.string() })),
  versions: z.record(z.string(), z.string()),
  /** Where each rank ran, where it had a process of its own; absent where all ranks were one process. */
  processes: z
    .array(
      z.strictObject({
        rank: z.int(),
        host: z.string(),
        pid: z.int(),
        /** Number of the rank on its machine, where a launcher said so. */
        localRank: z.int().optional(),
        device: z.string(),
      }),
    )
    .optional(),
  clock: z.strictObject({
    /** Wall time of clock zero, ISO 8601 UTC. */
    base: z.string(),
    /** How the ranks' clocks were aligned, and within how much. */
    alignment: z.string(),
    uncertaintyNs: z.number(),
  }),
  createdAt: z.string(),
  endedAt: z.string().optional(),
  /** Process that writes the bundle while status is `running`. */
  writer: z
    .strictObject({
      pid: z.int(),
      host: z.string(),
      /** When it took the bundle, where that was after `createdAt`. */
      since: z.string().optional(),
    })
    .optional(),
  summary: summarySchema.optional(),
  /** What a capture had to leave out, and why. */
  captureNotes: z.array(z.string()).optional(),
  /** Why kernels that were asked for were not recorded, and what to do about it. */
  kernelNote: z.string().optional(),
  /** Of a bundle that holds the points of a sweep and no run; `config` is its base then. */
  sweep: sweepManifestSchema.optional(),
})
export type Manifest = z.output<typeof manifestSchema>
