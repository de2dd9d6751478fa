import { z } from 'zod'
import type { RunStatus } from '../trace/manifest.ts'
import { sweepConfigSchema } from './config.ts'
import { ratesSchema } from './cost.ts'

/** A point without a measurement: the measuring device does not hold it, or the engine failed in it. */
const missingSchema = z.strictObject({
  key: z.string(),
  why: z.enum(['memory', 'failed']),
  reason: z.string(),
})
export type MissingPoint = z.output<typeof missingSchema>

/** What the manifest of a bundle says of the sweep whose points it holds. */
export const sweepManifestSchema = z.strictObject({
  config: sweepConfigSchema,
  /** What measures: `auto` of the configuration is decided here, for every part of the sweep. */
  device: z.enum(['cpu', 'cuda']),
  /** Memory of the device when the sweep began, for capacities of a configuration that gives none. */
  memoryBytes: z.number(),
  /** GPUs of the machine, where ranks had a process and a GPU each. */
  gpus: z.int().optional(),
  /** What the cost model predicts by. */
  rates: ratesSchema,
  missing: z.array(missingSchema),
})
export type SweepManifest = z.output<typeof sweepManifestSchema>

interface Ended {
  readonly status: RunStatus
  readonly sweep?: SweepManifest | undefined
}

/** Whether a bundle holds a sweep that nobody measures and of which there is something left, or to be tried again. */
export const isUnfinished = ({ status, sweep }: Ended): boolean =>
  sweep !== undefined &&
  status !== 'running' &&
  (status !== 'complete' || sweep.missing.some(({ why }) => why === 'failed'))
