import { z } from 'zod'

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
    /** Of all that is left. */
    secondsLeft: z.number(),
  }),
])
export type SweepProgress = z.output<typeof sweepProgressSchema>
export type MeasuringProgress = Extract<SweepProgress, { phase: 'measuring' }>
