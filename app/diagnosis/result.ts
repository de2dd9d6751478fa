import { z } from 'zod'
import { FAULT_NAMES } from '../faults/names.ts'

/**
 * What a diagnosis says. It is one JSON document: numbers are finite, and what has no finite value is null or left out.
 * Rows are query rows of a step's batch (0 to T - 1), heads those of the group (0 to H - 1); lists ascend without repetition.
 */

const list = <S extends z.ZodType>(of: S) => z.array(of).readonly()
const numbers = list(z.number())
const fault = z.enum(FAULT_NAMES)

/** Groups of bars, such as what was observed beside what is right and what the fault predicts; one label a group. */
const barPicture = z.strictObject({
  kind: z.literal('bars'),
  title: z.string(),
  unit: z.string(),
  labels: list(z.string()),
  series: list(z.strictObject({ name: z.string(), values: list(z.number().nullable()) })),
})

/** A matrix of values, row by row: `values` is [rows.length * columns.length]. */
const heatPicture = z.strictObject({
  kind: z.literal('heat'),
  title: z.string(),
  unit: z.string(),
  rowLabel: z.string(),
  columnLabel: z.string(),
  rows: list(z.string()),
  columns: list(z.string()),
  values: list(z.number().nullable()),
})

/** Data of a small picture. */
const picture = z.discriminatedUnion('kind', [barPicture, heatPicture])
export type Picture = z.output<typeof picture>

/** `value` is null where it is not finite; `expected` is what a healthy step would have. */
const evidenceNumber = z.strictObject({
  name: z.string(),
  value: z.number().nullable(),
  expected: z.number().optional(),
  unit: z.string().optional(),
})

const evidence = z.strictObject({ numbers: list(evidenceNumber), picture: picture.optional() })
export type Evidence = z.output<typeof evidence>

/** What usually causes a fault in a serving engine; `source` is owner/repo#number, or owner/repo and a place in it. */
const cause = z.strictObject({ text: z.string(), source: z.string() })
export type Cause = z.output<typeof cause>

const finding = z.strictObject({
  fault,
  title: z.string(),
  /** 0 to 1: how sure it is that this is the fault and not another one. */
  confidence: z.number(),
  /** Share of the observed error that the fault accounts for, 0 to 1. */
  explained: z.number(),
  /** Where it shows. */
  ranks: numbers,
  steps: numbers,
  layers: numbers,
  /** At most MAX_LISTED of `rowCount` rows; heads are all listed. */
  rows: numbers,
  rowCount: z.int(),
  heads: numbers,
  /** One sentence: what was seen. */
  summary: z.string(),
  evidence,
  /** Other faults that look the same in the given tensors; at most two. */
  ambiguousWith: list(fault),
  causes: list(cause),
  /** What to record next, where the tensors do not decide or to see more of it. */
  captureNext: z.string(),
})
export type Finding = z.output<typeof finding>

/** Rows that a finding lists. */
export const MAX_LISTED = 256

/** `needs`: what is missing, such as `merged of ranks 1, 3`; any one entry makes the fault decidable. */
const notChecked = z.strictObject({ fault, needs: list(z.string()) })
export type NotChecked = z.output<typeof notChecked>

/** What is worth knowing and no fault. */
const information = z.strictObject({
  kind: z.enum([
    'pad-row-garbage',
    'lse-low-precision',
    'harmless-empty-rows',
    'rows-sampled',
    'pages-missing',
    'no-reference',
    'unexplained',
    'nothing-checked',
  ]),
  message: z.string(),
  ranks: numbers,
  steps: numbers,
  layers: numbers,
})
export type Information = z.output<typeof information>

/** A file that could not be used, or only in part; `file` is null where it is about a step and layer as a whole. */
const inputIssue = z.strictObject({
  file: z.string().nullable(),
  tensor: z.string().nullable(),
  step: z.number().nullable(),
  layer: z.number().nullable(),
  rule: z.string(),
  /** The file is left out. */
  refused: z.boolean(),
  /** All of it in one sentence. */
  message: z.string(),
})
export type InputIssue = z.output<typeof inputIssue>

export const diagnosisSchema = z.strictObject({
  /** The verdict is `healthy`. */
  healthy: z.boolean(),
  /** `undetermined`: nothing could be checked, a rank's file is missing, or an error was seen that no known fault explains. */
  verdict: z.enum(['healthy', 'faulty', 'undetermined']),
  /** Best first: by the share of the error that each explains. */
  findings: list(finding),
  /** Faults that the given tensors can neither show nor exclude. */
  notChecked: list(notChecked),
  information: list(information),
  inputIssues: list(inputIssue),
})
export type Diagnosis = z.output<typeof diagnosisSchema>
