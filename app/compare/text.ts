import { errorText as outputErrorText } from '../messages/errors.ts'
import type { ConfigDifference, DifferenceKind } from './configs.ts'
import type { Compared, Divergence } from './numbers.ts'
import type { RepeatRow } from './repeats.ts'
import { type CheckOutcome, type DifferingRow, ROW_WORDS } from './rows.ts'
import { LEAST_STEPS, LEVEL, type Measure, type TimeRow, type Verdict } from './times.ts'

export const measureWord = (measure: Measure): string => {
  if (measure === 'step') return 'whole step'
  return measure === 'waiting' ? 'waiting in collectives' : measure
}

export const KIND_WORDS: Readonly<Record<DifferenceKind, string>> = {
  work: 'work',
  way: 'way',
  place: 'place',
  watch: 'watched',
}

export const VERDICT_WORDS: Readonly<Record<Verdict, string>> = {
  slower: 'B is slower',
  faster: 'B is faster',
  even: 'not significant',
  few: 'too few steps',
  drifting: 'drifts',
  'a-only': 'only in A',
  'b-only': 'only in B',
}

/** What stands behind each verdict. */
export const VERDICT_REASONS: Readonly<Record<Verdict, string>> = {
  slower: `B took longer in the same steps, by more than chance makes (corrected p at most ${LEVEL}).`,
  faster: `B took less in the same steps, by more than chance makes (corrected p at most ${LEVEL}).`,
  even: `What differs from step to step may be chance (corrected p above ${LEVEL}).`,
  few: `Both have fewer than ${LEAST_STEPS} steps, or pieces of alike steps, in common, of which nothing can be said.`,
  drifting: 'The differences go on changing over the run, so its steps are no repeats of each other.',
  'a-only': 'B has no such stage.',
  'b-only': 'A has no such stage.',
}

/** What the test of the times takes for granted. */
export const TEST_ASSUMPTIONS =
  "Wilcoxon's signed-rank test of the differences of the same steps, two-sided, corrected by Holm over the rows of a table. It takes the differences for independent: steps are joined to pieces until neighbouring ones are no longer alike. Steps of one run each are no repeats of the run: what differs from run to run is in it only where repeats of both are known."

/** p as a reader takes it. */
export const pText = (p: number): string => (p < 0.001 ? 'p < 0.001' : `p = ${p.toFixed(3)}`)

/** Ratio of B to A; null where there is none. */
export const ratioOfRow = ({ aNs, bNs }: Pick<TimeRow, 'aNs' | 'bNs'>): number | null =>
  aNs === null || bNs === null || aNs === 0 ? null : bNs / aNs

/** How a row over repeats reads: whether what differs is more than what differs from run to run. */
export const repeatText = ({ a, b, ratio, low, high }: RepeatRow): string => {
  const range = `×${ratio.toFixed(3)} (${low.toFixed(3)} to ${high.toFixed(3)}) over ${a} and ${b} runs`
  if (low > 1) return `${range}: slower, beyond what differs from run to run`
  return high < 1
    ? `${range}: faster, beyond what differs from run to run`
    : `${range}: within what differs from run to run`
}

const valueText = (value: number): string =>
  Number.isFinite(value) ? String(Number(value.toPrecision(6))) : String(value)

const errorText = (error: number): string =>
  Number.isFinite(error) ? error.toExponential(2) : 'no number in one of both'

const headText = (head: number): string => (head < 0 ? '' : `, head ${head}`)

const rowPlace = ({ row, request, qIndex }: Divergence): string =>
  qIndex < 0 ? `request ${request}` : `row ${row} (request ${request}, query ${qIndex})`

/** Where two dumps diverge first, and by how much. */
export const divergenceText = (tensor: Compared, found: Divergence, tolerance: number): string =>
  `${tensor} at step ${found.step}, layer ${found.layer}, ${rowPlace(found)}${headText(found.head)}, rank ${found.rank}: ` +
  `${valueText(found.a)} in A, ${valueText(found.b)} in B at place ${found.at}, error ${errorText(found.error)}` +
  (tolerance === 0
    ? ', where both must be the same'
    : ` where rounding explains ${tolerance.toExponential(1)}`)

/** Where rows of partials of two runs differ first. */
export const differingRowText = ({ kind, step, layer, rank, request, qIndex, a, b }: DifferingRow): string =>
  `${ROW_WORDS[kind]} at step ${step}, layer ${layer}, request ${request}, query ${qIndex}, rank ${rank}: ` +
  `${valueText(a)} in A, ${valueText(b)} in B`

export const checkText = ({
  checkedRows,
  worst,
  failedSteps,
  firstFailed,
  tolerance,
}: CheckOutcome): string => {
  if (checkedRows === 0 || worst === null) return 'nothing was checked'
  const error = `largest error ${outputErrorText(worst)}, allowed ${tolerance.toExponential(0)}`
  return failedSteps === 0
    ? `passed (${error})`
    : `failed in ${failedSteps} ${failedSteps === 1 ? 'step' : 'steps'}, first in step ${firstFailed} (${error})`
}

export const differenceText = ({ path, a, b }: ConfigDifference): string =>
  `${path}: ${a ?? 'none'} in A, ${b ?? 'none'} in B`
