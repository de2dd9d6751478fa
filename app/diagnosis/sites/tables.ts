import type { FaultName } from '../../faults/names.ts'
import type { Case, RankTables } from '../case.ts'
import type { Claim } from '../claim.ts'
import { DEFAULT_WEIGHT, type Hypothesis, type TablePrediction } from '../hypothesis.ts'

/** An integer table of every rank that has it, beside what is right. */
export interface TableSite {
  /** What messages call it: `local lengths`. */
  readonly name: string
  readonly unit: string
  /** Cells of a rank; undefined: the rank has no such table. */
  readonly observed: (rank: RankTables) => Float64Array | undefined
  /** Undefined: the cell means nothing, or what is right is not known. */
  readonly expected: (rank: RankTables, index: number) => number | undefined
  /** Query rows that a cell is about. */
  readonly rowsOf: (index: number) => readonly number[]
  /** Heading of a cell in pictures: `request 3`. */
  readonly label: (index: number) => string
  readonly predictions: (hypothesis: Hypothesis) => readonly TablePrediction[]
  /**
   * Whether cells that are wrong, each as predicted, speak for a prediction that was chosen such that it fits. Default: they do.
   */
  readonly speakFor?: (cells: readonly WrongCell[]) => boolean
  /** Claims on what no hypothesis predicts cell by cell; gets the cells that are wrong. */
  readonly otherwise: (wrong: readonly WrongCell[]) => Fallback | undefined
}

export interface WrongCell {
  readonly rank: RankTables
  readonly index: number
  readonly observed: number
  readonly expected: number
}

export interface Fallback {
  readonly hypothesis: Hypothesis
  readonly detail: string
  readonly explained: number
  readonly rivals: readonly FaultName[]
}

/** Share of the cells in question that a prediction must have right to be named. */
const LEAST_SHARE = 0.75
/** Predictions that are this near to the best one are told apart by nothing. */
const TIE = 1e-9
/** How much more weight a prediction needs to be named alone beside another one that fits as well. */
const WORTH_NAMING = 3
const PICTURED = 16

/**
 * Compares an integer table with what is right and with what each hypothesis predicts. In question are the cells that are
 * wrong, and those that a hypothesis says should be, on ranks where anything is wrong.
 */
export const tableClaims = (c: Case, hypotheses: readonly Hypothesis[], site: TableSite): Claim[] => {
  const wrong = wrongCells(c, site)
  if (wrong.length === 0) return []
  const ranks = [...new Set(wrong.map(({ rank }) => rank))]
  const scored = hypotheses
    .flatMap((hypothesis) =>
      site.predictions(hypothesis).map((prediction) => ({
        hypothesis,
        prediction,
        share: share(ranks, site, prediction),
        cells: wrong.filter(({ rank, index, observed }) => prediction.at(rank, index) === observed),
      })),
    )
    .filter(
      ({ prediction, share: own, cells }) =>
        own >= LEAST_SHARE && (!isChosen(prediction) || site.speakFor?.(cells) !== false),
    )
    .sort((a, b) => b.share - a.share || weightOf(b.prediction) - weightOf(a.prediction))
  const [best] = scored
  if (best === undefined) {
    const other = site.otherwise(wrong)
    return other === undefined
      ? []
      : [claim(site, wrong, other.hypothesis, other.detail, other.explained, other.rivals)]
  }
  const equal = scored.filter(
    (one, i) =>
      one.share >= best.share - TIE &&
      weightOf(one.prediction) * WORTH_NAMING >= weightOf(best.prediction) &&
      scored.findIndex((s) => s.hypothesis === one.hypothesis) === i,
  )
  const made = claim(site, wrong, best.hypothesis, best.prediction.detail, best.share, [], best.prediction)
  // Of what was chosen such that it fits one cell says little.
  const sure = isChosen(best.prediction) ? best.cells.length / (best.cells.length + 1) : 1
  return [
    {
      ...made,
      confidence: best.share * sure,
      rivals: equal.slice(1).map(({ hypothesis }) => hypothesis.fault),
    },
  ]
}

/** Whether something of it was chosen such that it fits. */
const isChosen = (prediction: TablePrediction): boolean => weightOf(prediction) < DEFAULT_WEIGHT

const weightOf = ({ weight = DEFAULT_WEIGHT }: TablePrediction): number => weight

const wrongCells = (c: Case, site: TableSite): WrongCell[] =>
  c.ranks.flatMap((rank) => {
    const cells: WrongCell[] = []
    site.observed(rank)?.forEach((observed, index) => {
      const expected = site.expected(rank, index)
      if (expected !== undefined && expected !== observed) cells.push({ rank, index, observed, expected })
    })
    return cells
  })

/** Cells that observation and prediction agree on, of those that either has different from what is right. */
const share = (ranks: readonly RankTables[], site: TableSite, prediction: TablePrediction): number => {
  let asked = 0
  let right = 0
  for (const rank of ranks)
    site.observed(rank)?.forEach((observed, index) => {
      const expected = site.expected(rank, index)
      if (expected === undefined) return
      const predicted = prediction.at(rank, index) ?? expected
      if (predicted === expected && observed === expected) return
      asked++
      if (predicted === observed) right++
    })
  return asked === 0 ? 0 : right / asked
}

const claim = (
  site: TableSite,
  wrong: readonly WrongCell[],
  { fault }: Hypothesis,
  detail: string,
  explained: number,
  rivals: readonly FaultName[],
  prediction?: TablePrediction,
): Claim => {
  const shown = wrong.slice(0, PICTURED)
  const [first] = wrong
  const example =
    first === undefined
      ? ''
      : `: rank ${first.rank.rank}, ${site.label(first.index)} has ${first.observed} where ${first.expected} is right`
  return {
    fault,
    confidence: explained,
    explained,
    ranks: wrong.map(({ rank }) => rank.rank),
    rows: wrong.flatMap(({ index }) => site.rowsOf(index)),
    heads: [],
    summary: `${site.name} are wrong ${detail}${example}`,
    rivals,
    evidence: {
      numbers: [
        { name: `${site.name} that are wrong`, value: wrong.length, expected: 0, unit: 'cells' },
        { name: 'of these as the fault predicts', value: explained, expected: 1, unit: 'share' },
      ],
      picture: {
        kind: 'bars',
        title: site.name,
        unit: site.unit,
        labels: shown.map(({ rank, index }) => `rank ${rank.rank}, ${site.label(index)}`),
        series: [
          { name: 'dumped', values: shown.map(({ observed }) => observed) },
          { name: 'right', values: shown.map(({ expected }) => expected) },
          ...(prediction === undefined
            ? []
            : [
                {
                  name: 'by the fault',
                  values: shown.map((cell) => prediction.at(cell.rank, cell.index) ?? cell.expected),
                },
              ]),
        ],
      },
    },
  }
}
