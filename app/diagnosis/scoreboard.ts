import type { FaultName } from '../faults/names.ts'
import { added, type Distances, holds, judge, NO_DISTANCE, type Verdict } from './contest.ts'
import type { Hypothesis } from './hypothesis.ts'

/** A prediction, and how far it is from what was observed at each of some places (ranks, or what ranks keep). */
export interface Entry<P> {
  readonly hypothesis: Hypothesis
  readonly prediction: P
  readonly distances: Distances[]
}

export const entry = <P>(hypothesis: Hypothesis, prediction: P, places: number): Entry<P> => ({
  hypothesis,
  prediction,
  distances: Array.from({ length: places }, () => NO_DISTANCE),
})

export const addTo = <P>({ distances }: Entry<P>, place: number, more: Distances): void => {
  distances[place] = added(distances[place] ?? NO_DISTANCE, more)
}

/** Values of a head, and what rounding makes of a result, as a share of it. */
export interface Measure {
  readonly width: number
  readonly rounding: number
}

/** What fits best, over the places where it holds. */
export interface Winner<P> {
  readonly hypothesis: Hypothesis
  /** That of the first place. */
  readonly prediction: P
  readonly places: readonly number[]
  /** That of each place. */
  readonly predictions: readonly P[]
  readonly verdict: Verdict
  readonly sum: Distances
  /** Faults whose best is told apart from it by nothing. */
  readonly rivals: readonly FaultName[]
}

interface Score<P> extends Omit<Winner<P>, 'rivals'> {
  /** Squared error that is left over all places. */
  readonly left: number
}

/** Sigma within which two hypotheses count as equal. */
const TOLD_APART = 12

/** The hypothesis that leaves the least error; undefined where none holds anywhere. */
export const winner = <P>(
  entries: readonly Entry<P>[],
  places: number,
  { width, rounding }: Measure,
): Winner<P> | undefined => {
  const scores = [...new Set(entries.map(({ hypothesis }) => hypothesis))]
    .map((hypothesis) => scoreOf(hypothesis, entries, places, { width, rounding }))
    .filter((score) => score !== undefined)
    .sort((a, b) => a.left - b.left)
  const [best, ...others] = scores
  if (best === undefined) return undefined
  const near = (best.left * TOLD_APART) / Math.sqrt(Math.max(1, best.sum.values))
  return {
    ...best,
    rivals: others.filter(({ left }) => left - best.left < near).map(({ hypothesis }) => hypothesis.fault),
  }
}

/** Relative error of a head that a prediction may leave. */
const MOST_LEFT = 0.05
/** Share of the squared error that it may leave, where that is more. */
const LEFT_OF_IT = 0.05

/** Something is wrong, and the prediction takes nearly all of it away. */
const fits = ({ right, predicted, values }: Distances, { width, rounding }: Measure): boolean => {
  const heads = values / width
  // Rounding of the results can look like any change that is as small.
  return (
    right > heads * rounding ** 2 && (predicted < heads * MOST_LEFT ** 2 || predicted < LEFT_OF_IT * right)
  )
}

/** The best of a hypothesis: at each place its prediction that fits best there, where it holds, else as is right. */
const scoreOf = <P>(
  hypothesis: Hypothesis,
  entries: readonly Entry<P>[],
  places: number,
  measure: Measure,
): Score<P> | undefined => {
  const own = entries.filter((one) => one.hypothesis === hypothesis)
  const chosen: { place: number; prediction: P }[] = []
  let sum = NO_DISTANCE
  let left = 0
  for (let place = 0; place < places; place++) {
    let best: { prediction: P; distances: Distances } | undefined
    for (const { prediction, distances: all } of own) {
      const distances = all[place] ?? NO_DISTANCE
      if (best === undefined || distances.predicted < best.distances.predicted)
        best = { prediction, distances }
    }
    if (best === undefined) continue
    if (!holds(judge(best.distances)) || !fits(best.distances, measure)) {
      left += best.distances.right
      continue
    }
    chosen.push({ place, prediction: best.prediction })
    sum = added(sum, best.distances)
    left += best.distances.predicted
  }
  const [first] = chosen
  if (first === undefined) return undefined
  return {
    hypothesis,
    prediction: first.prediction,
    places: chosen.map(({ place }) => place),
    predictions: chosen.map((one) => one.prediction),
    verdict: judge(sum),
    sum,
    left,
  }
}
