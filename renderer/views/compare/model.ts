import type { ConfigDifference } from '../../../app/compare/configs.ts'
import { type Compared, type Divergence, firstDivergence } from '../../../app/compare/numbers.ts'
import { type DifferingRow, ROW_DIFFERENCES, ROW_WORDS } from '../../../app/compare/rows.ts'
import {
  differenceText,
  differingRowText,
  divergenceText,
  measureWord,
  pText,
  ratioOfRow,
  VERDICT_WORDS,
} from '../../../app/compare/text.ts'
import type { Measure, TimeRow } from '../../../app/compare/times.ts'
import type { StoreResult } from '../../../app/protocol/store.ts'
import { quantile } from '../../../app/statistics/sample.ts'
import { formatInt, formatUs } from '../../drawing/format.ts'
import { sourceNote } from '../../drawing/provenance.ts'
import type { Selection } from '../../state/selection.ts'

export type Times = StoreResult<'compareTimes'>
export type Rows = StoreResult<'compareRows'>
export type Tensors = StoreResult<'compareTensors'>

/** A verdict in one line with its tone. */
export interface Headline {
  readonly tone: 'ok' | 'warn' | 'bad' | 'plain'
  readonly text: string
}

/** What the configurations say. */
export const configHeadline = (differences: readonly ConfigDifference[]): Headline => {
  const work = differences.filter(({ kind }) => kind === 'work' || kind === 'place').length
  if (differences.length === 0) return { tone: 'ok', text: 'same configuration and place' }
  const count = `${differences.length} ${differences.length === 1 ? 'difference' : 'differences'}`
  return work > 0 ? { tone: 'warn', text: `unlike: ${count}` } : { tone: 'plain', text: count }
}

/** Whether numbers diverge, of what both recorded or captured. */
export const numberHeadline = (rows: Rows | null, tensors: Tensors | null): Headline => {
  const diverges = (tensors !== null && firstDivergence(tensors.tensors) !== null) || rows?.first != null
  if (diverges) return { tone: 'bad', text: 'numbers diverge' }
  const seen = (rows?.rows ?? 0) + (tensors?.groups ?? 0)
  return seen === 0
    ? { tone: 'plain', text: 'no numbers in common' }
    : { tone: 'ok', text: 'numbers the same but for rounding' }
}

/** Whether repeats of both show the change as well; null where there are too few, and of single ranks. */
export const acrossRepeats = (
  row: TimeRow,
  { repeats }: Pick<Times, 'repeats'>,
): 'beyond' | 'within' | null => {
  const found = row.rank === null ? repeats.find(({ measure }) => measure === row.measure) : undefined
  if (found === undefined) return null
  return found.low > 1 || found.high < 1 ? 'beyond' : 'within'
}

/** Rows that changed significantly, by repeats too where there are some; the largest change first, whole steps, their sum, last. */
export const changed = ({ rows, repeats }: Pick<Times, 'rows' | 'repeats'>): readonly TimeRow[] =>
  rows
    .filter(
      (row) =>
        (row.verdict === 'slower' || row.verdict === 'faster') &&
        acrossRepeats(row, { repeats }) !== 'within',
    )
    .sort(
      (x, y) =>
        Number(x.measure === 'step') - Number(y.measure === 'step') ||
        Math.abs(y.difference?.ns ?? 0) - Math.abs(x.difference?.ns ?? 0),
    )

/** Whether whole steps changed, and the stage that changed most. */
export const timeHeadline = (times: Times): Headline => {
  if (times.steps === 0) return { tone: 'plain', text: 'no steps in common' }
  const all = changed(times)
  const step = all.find(({ measure }) => measure === 'step')
  const [most, ...others] = all.filter((row) => row !== step)
  const first = step ?? most
  if (first === undefined)
    return times.rows.every(({ verdict }) => verdict !== 'even')
      ? { tone: 'plain', text: 'too few steps to tell' }
      : { tone: 'ok', text: 'no time changed significantly' }
  const more = others.length === 0 ? '' : `, and ${others.length} more`
  const told = [step, most].flatMap((row) => (row === undefined ? [] : [changeText(row)]))
  return { tone: first.verdict === 'slower' ? 'warn' : 'plain', text: told.join('; ') + more }
}

const changeText = (row: TimeRow): string => {
  const ratio = ratioOfRow(row)
  return `${measureWord(row.measure)} ${row.verdict}${ratio === null ? '' : ` (×${ratio.toFixed(3)})`}`
}

/** Share of the longest bar, 0 to 1, of each side; whole steps hold the others and have none. */
export const barShares = (
  row: TimeRow,
  rows: readonly TimeRow[],
): { readonly a: number; readonly b: number } | null => {
  if (row.measure === 'step') return null
  const most = Math.max(
    0,
    ...rows.flatMap(({ measure, aNs, bNs }) => (measure === 'step' ? [] : [aNs ?? 0, bNs ?? 0])),
  )
  return most === 0 ? { a: 0, b: 0 } : { a: (row.aNs ?? 0) / most, b: (row.bNs ?? 0) / most }
}

/** Microseconds of ns; '–' of nothing. */
export const usText = (ns: number | null | undefined): string => (ns == null ? '–' : formatUs(ns / 1000))

const signed = (text: string, ns: number): string => (ns > 0 ? `+${text}` : text)

export const differenceCell = ({ difference }: TimeRow): string =>
  difference === null ? '–' : signed(usText(difference.ns), difference.ns)

export const intervalCell = ({ difference }: TimeRow): string =>
  difference === null || !Number.isFinite(difference.lowNs)
    ? '–'
    : `${usText(difference.lowNs)} to ${usText(difference.highNs)}`

export const ratioCell = (row: TimeRow): string => {
  const ratio = ratioOfRow(row)
  return ratio === null ? '–' : `×${ratio.toFixed(3)}`
}

/** The verdict of the steps, and what repeats make of it. */
export const verdictCell = (row: TimeRow, times: Pick<Times, 'repeats'>): string => {
  const { verdict, p } = row
  if (p === null) return VERDICT_WORDS[verdict]
  const runs = verdict === 'even' ? null : acrossRepeats(row, times)
  const word = runs === null ? '' : runs === 'beyond' ? ', repeats too' : ', within repeats'
  return `${VERDICT_WORDS[verdict]}, ${pText(p)}${word}`
}

/** How a row was tested. */
export const testedText = ({ slower, faster, pieces, pieceSteps, p }: TimeRow): string =>
  p === null
    ? ''
    : `B took longer in ${slower} and less in ${faster} of the steps; tested on ${pieces} ${pieceSteps === 1 ? 'steps' : `pieces of ${pieceSteps} steps`}.`

/** Where the times of a row come from, on either side, as far as they were not measured. */
export const sourceOf = ({ sources }: Times, measure: Measure): string | undefined => {
  const found = sources.find((one) => one.measure === measure)
  return found === undefined ? undefined : sourceNote([...found.a, ...found.b])
}

/** The place of a divergence as a selection. */
export const placeOfDivergence = (found: Divergence): Partial<Selection> => ({
  step: found.step,
  layer: found.layer,
  rank: found.rank,
  request: found.request < 0 ? null : found.request,
  qIndex: found.qIndex < 0 ? null : found.qIndex,
  head: found.head < 0 ? null : found.head,
})

export const placeOfRow = ({ step, layer, rank, request, qIndex }: DifferingRow): Partial<Selection> => ({
  step,
  layer,
  rank,
  request,
  qIndex,
})

/** The first place where numbers diverge, in words, as a selection, and whether tensors show it. */
export interface FirstPlace {
  readonly text: string
  readonly place: Partial<Selection>
  readonly tensor: Compared | null
}

/** Of tensors and rows that of the earlier step and layer; tensors tell more of the same one. */
export const firstPlace = (rows: Rows | null, tensors: Tensors | null): FirstPlace | null => {
  const cell = tensors === null ? null : firstDivergence(tensors.tensors)
  const row = rows?.first ?? null
  const byCell = (): FirstPlace | null => {
    if (cell === null) return null
    const tolerance = tensors?.tensors.find(({ tensor }) => tensor === cell.tensor)?.tolerance ?? 0
    return {
      text: divergenceText(cell.tensor, cell, tolerance),
      place: placeOfDivergence(cell),
      tensor: cell.tensor,
    }
  }
  if (row === null) return byCell()
  const isEarlier =
    cell === null || row.step < cell.step || (row.step === cell.step && row.layer < cell.layer)
  return isEarlier ? { text: differingRowText(row), place: placeOfRow(row), tensor: null } : byCell()
}

/** `12 differ in lse, 3 in keys that they see`. */
export const rowCounts = ({ differing, rows }: Rows): string => {
  const found = ROW_DIFFERENCES.filter((kind) => differing[kind] > 0)
  const all = `${formatInt(rows)} rows of partials`
  return found.length === 0
    ? `${all}: none differs.`
    : `${all}: ${found.map((kind) => `${formatInt(differing[kind])} differ in ${ROW_WORDS[kind]}`).join(', ')}.`
}

/** B minus A over the steps, as bars around zero. */
export interface StepBars {
  /** ns that the height of a half stands for; larger ones are cut off there. */
  readonly reachNs: number
  readonly bars: readonly {
    readonly step: number
    readonly aNs: number
    readonly bNs: number
    readonly ns: number
    /** -1 to 1 of the reach. */
    readonly height: number
    readonly isCut: boolean
  }[]
}

/** Null where one side has no such measure, or both have no step in common. */
export const stepBars = (times: Times, measure: Measure): StepBars | null => {
  const series = times.series.find((one) => one.measure === measure)
  if (series === undefined || series.a.length === 0) return null
  const differences = [...series.b].map((ns, i) => ns - (series.a[i] ?? Number.NaN))
  if (differences.some(Number.isNaN)) return null
  const sizes = differences.map(Math.abs)
  // A single disturbed step must not flatten all others.
  const usual = 3 * quantile(sizes, 0.9)
  const most = Math.max(...sizes)
  const reachNs = most > usual && usual > 0 ? usual : most
  return {
    reachNs,
    bars: differences.map((ns, i) => ({
      step: times.partSteps[i] ?? 0,
      aNs: series.a[i] ?? 0,
      bNs: series.b[i] ?? 0,
      ns,
      height: reachNs === 0 ? 0 : Math.max(-1, Math.min(1, ns / reachNs)),
      isCut: Math.abs(ns) > reachNs,
    })),
  }
}

/** Place of the bar that a step lies in; null where none does. */
export const barOfStep = ({ bars }: StepBars, step: number | null, perPart: number): number | null => {
  if (step === null) return null
  const at = bars.findLastIndex((bar) => bar.step <= step)
  return at >= 0 && (at < bars.length - 1 || step < (bars[at]?.step ?? 0) + perPart) ? at : null
}

const TIME_HEADER = [
  'rank',
  'stage',
  'A ns',
  'B ns',
  'difference ns',
  'low ns',
  'high ns',
  'ratio',
  'verdict',
  'p',
]

/** Everything that the view says, as text with tabs, to be pasted into a sheet. */
export const comparisonText = (
  names: { readonly a: string; readonly b: string },
  differences: readonly ConfigDifference[],
  found: { readonly times: Times | null; readonly rows: Rows | null; readonly tensors: Tensors | null },
): string => {
  const first = firstPlace(found.rows, found.tensors)
  const timeLines = [...(found.times?.rows ?? []), ...(found.times?.ranks ?? [])].map((row) =>
    [
      row.rank ?? 'mean',
      measureWord(row.measure),
      row.aNs,
      row.bNs,
      row.difference?.ns,
      row.difference?.lowNs,
      row.difference?.highNs,
      ratioOfRow(row),
      VERDICT_WORDS[row.verdict],
      row.p,
    ]
      .map((cell) => cell ?? '')
      .join('\t'),
  )
  return [
    `A\t${names.a}`,
    `B\t${names.b}`,
    ...differences.map((one) => `differs\t${differenceText(one)}`),
    `numbers\t${numberHeadline(found.rows, found.tensors).text}`,
    ...(first === null ? [] : [`first\t${first.text}`]),
    ...(timeLines.length === 0 ? [] : [TIME_HEADER.join('\t'), ...timeLines]),
  ].join('\n')
}
