/**
 * Compares a prediction with what is right by their distances to what was observed. With e the difference of observed and
 * right values and d that of predicted and right ones, the observation is right + alpha * d + noise: alpha is 0 when all is
 * right, 1 when the prediction holds. Errors far below the noise of one value are found, since all values count together.
 */
export interface Distances {
  /** Squared, of observed and right values. */
  readonly right: number
  /** Squared, of observed and predicted values. */
  readonly predicted: number
  /** Squared, of predicted and right values. */
  readonly between: number
  /** Values that were compared. */
  readonly values: number
}

export const NO_DISTANCE: Distances = { right: 0, predicted: 0, between: 0, values: 0 }

export const added = (a: Distances, b: Distances): Distances => ({
  right: a.right + b.right,
  predicted: a.predicted + b.predicted,
  between: a.between + b.between,
  values: a.values + b.values,
})

export interface Verdict {
  /** 0: as is right; 1: as predicted. */
  readonly alpha: number
  /** Alpha in standard deviations of what the remaining noise would give it. */
  readonly sigma: number
  /** Share of the squared error that the prediction takes away, 0 to 1. */
  readonly explained: number
}

/** Least sigma of a prediction that is believed, and how far alpha may be from 1. */
const LEAST_SIGMA = 12
const ALPHA_RANGE = 0.3
/** Least share of the error: noise that is no noise, such as rounding to one side, can look a little like anything. */
const LEAST_EXPLAINED = 0.2

export const judge = ({ right, predicted, between, values }: Distances): Verdict => {
  if (values === 0 || !(between > 0) || !Number.isFinite(right + predicted))
    return { alpha: 0, sigma: 0, explained: 0 }
  const alpha = (right - predicted + between) / (2 * between)
  const noise = Math.max((right - alpha * alpha * between) / values, between * 1e-30)
  return {
    alpha,
    sigma: alpha * Math.sqrt(between / noise),
    explained: right > 0 ? Math.min(1, Math.max(0, 1 - predicted / right)) : 0,
  }
}

/** Whether the prediction holds, beyond what noise could do. */
export const holds = ({ alpha, sigma, explained }: Verdict): boolean =>
  sigma >= LEAST_SIGMA && Math.abs(alpha - 1) <= ALPHA_RANGE && explained >= LEAST_EXPLAINED
