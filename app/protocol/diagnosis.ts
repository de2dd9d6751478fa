import { z } from 'zod'
import { diagnosisSchema } from '../diagnosis/result.ts'

/** Commands to the process that diagnoses, one diagnosis at a time.  */
export const diagnosisCommandSchema = z.discriminatedUnion('type', [
  /** Dump files, folders of such, bundles of runs. */
  z.strictObject({
    type: z.literal('diagnose'),
    id: z.string(),
    paths: z.array(z.string()).min(1),
    /** Every query row is compared with the reference, not a sample. */
    allRows: z.boolean(),
  }),
  z.strictObject({ type: z.literal('cancel'), id: z.string() }),
])
export type DiagnosisCommand = z.output<typeof diagnosisCommandSchema>

/** What that process tells main or the command line. */
export const diagnosisEventSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('ready') }),
  /** `share` of the work is done, 0 to 1. */
  z.strictObject({ type: z.literal('progress'), id: z.string(), share: z.number() }),
  z.strictObject({
    type: z.literal('diagnosed'),
    id: z.string(),
    /** Steps and layers that were looked at; 0: no file could be used. */
    groups: z.int(),
    diagnosis: diagnosisSchema,
  }),
  z.strictObject({ type: z.literal('cancelled'), id: z.string() }),
  z.strictObject({ type: z.literal('failed'), id: z.string(), error: z.string() }),
])
export type DiagnosisEvent = z.output<typeof diagnosisEventSchema>
