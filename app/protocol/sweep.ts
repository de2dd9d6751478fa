import { z } from 'zod'
import { sweepConfigSchema } from '../sweep/config.ts'
import { RUN_STATUSES } from '../trace/manifest.ts'
import { engineCommandSchema, engineEventSchema } from './engine.ts'

/** How far the measuring of a sweep is. */
export const sweepProgressSchema = z.discriminatedUnion('phase', [
  /** Short runs tell the rates of the device, before the first point of a new sweep: `done` of `total`. */
  z.strictObject({ phase: z.literal('calibrating'), done: z.int(), total: z.int() }),
  z.strictObject({
    phase: z.literal('measuring'),
    /** Points with all their repeats. */
    done: z.int(),
    total: z.int(),
    /** The point that is measured now, which of its repeats (from 0), and of how many. */
    key: z.string(),
    repeat: z.int(),
    repeats: z.int(),
    /** Of the repeat before. */
    tokensPerSecond: z.number().optional(),
    /** Points that the engine failed in so far, and how in the last of them. */
    failed: z.int(),
    failure: z.string().optional(),
    /** Of all that is left. */
    secondsLeft: z.number(),
  }),
])
export type SweepProgress = z.output<typeof sweepProgressSchema>
export type MeasuringProgress = Extract<SweepProgress, { phase: 'measuring' }>

/** How the measuring of a sweep ended. */
export const sweepEndSchema = z.strictObject({
  status: z.enum(RUN_STATUSES),
  /** Whether there is a bundle, which can be gone on with unless it is complete. */
  kept: z.boolean(),
  /** Points of the sweep, those with all their repeats, and those that the engine failed in; 0 where nothing was begun. */
  points: z.int(),
  measured: z.int(),
  failed: z.int(),
  /** Why it failed, or the first of its points. */
  error: z.string().optional(),
})
export type SweepEnd = z.output<typeof sweepEndSchema>

/** Commands to the process that measures a sweep, one for each. Its line to an engine's trace is a port beside `engine-port`. */
export const sweepCommandSchema = z.discriminatedUnion('type', [
  /** Measures a new sweep into a folder that is not there yet. */
  z.strictObject({
    type: z.literal('begin'),
    folder: z.string(),
    name: z.string(),
    config: sweepConfigSchema,
  }),
  /** Goes on with the sweep of a bundle. */
  z.strictObject({ type: z.literal('goOn'), folder: z.string() }),
  /** Ends the measuring at once and closes the bundle, which can be gone on with. */
  z.strictObject({ type: z.literal('stop') }),
  /** What an engine says that was asked for by `forkEngine`. */
  z.strictObject({ type: z.literal('engineEvent'), engine: z.int(), event: engineEventSchema }),
  /** It is there no more; `how` is a sentence. */
  z.strictObject({ type: z.literal('engineGone'), engine: z.int(), how: z.string() }),
  z.strictObject({ type: z.literal('ping'), seq: z.int() }),
])
export type SweepCommand = z.output<typeof sweepCommandSchema>

/** What that process tells main, which forks engines for it: processes of Electron cannot fork each other. */
export const sweepEventSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('ready') }),
  z.strictObject({ type: z.literal('pong'), seq: z.int() }),
  z.strictObject({ type: z.literal('progress'), progress: sweepProgressSchema }),
  /** Asks for an engine process, named by this number from now on. */
  z.strictObject({ type: z.literal('forkEngine'), engine: z.int() }),
  z.strictObject({ type: z.literal('engineCommand'), engine: z.int(), command: engineCommandSchema }),
  z.strictObject({ type: z.literal('endEngine'), engine: z.int() }),
  /** The measuring is over and the bundle, where one was begun, is closed. */
  z.strictObject({ type: z.literal('ended'), end: sweepEndSchema }),
])
export type SweepEvent = z.output<typeof sweepEventSchema>
