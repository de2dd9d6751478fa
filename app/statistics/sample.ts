/** Quantile with linear interpolation, as quantile_cont of SQL; NaN of nothing. `q` in [0, 1]. */
export const quantile = (values: ArrayLike<number>, q: number): number => {
  const sorted = Float64Array.from(values).sort()
  const at = q * (sorted.length - 1)
  const [below, above] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]]
  if (below === undefined || above === undefined) return Number.NaN
  return below + (above - below) * (at - Math.floor(at))
}

export const median = (values: ArrayLike<number>): number => quantile(values, 0.5)

export const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length

/** Variance of a sample; 0 of fewer than two values. */
export const variance = (values: readonly number[]): number => {
  if (values.length < 2) return 0
  const middle = mean(values)
  return values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (values.length - 1)
}

/** Two-sided 95% points of Student's t for 1 to 30 degrees of freedom. */
const T_95 = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131,
  2.12, 2.11, 2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042,
]

/** Two-sided 95% point of Student's t. Degrees of freedom are rounded down, to at most 30, which is the careful side. */
export const student95 = (freedom: number): number =>
  T_95[Math.min(T_95.length, Math.max(1, Math.floor(freedom))) - 1] ?? Number.POSITIVE_INFINITY

/** 95% confidence interval of the geometric mean of values above 0, by Student's t on logarithms; null of fewer than two. */
export const intervalOf = (values: readonly number[]): readonly [low: number, high: number] | null => {
  if (values.length < 2) return null
  const logs = values.map(Math.log)
  const [middle, error] = [mean(logs), Math.sqrt(variance(logs) / values.length)]
  const reach = student95(values.length - 1) * error
  return [Math.exp(middle - reach), Math.exp(middle + reach)]
}

export interface Ratio {
  /** a over b, of the geometric means. */
  readonly ratio: number
  /** 95% confidence interval by Welch's test on logarithms; null where a side has one value only. */
  readonly interval: readonly [low: number, high: number] | null
}

/** How the values of `a` stand to those of `b`, all above 0. */
export const ratioOf = (a: readonly number[], b: readonly number[]): Ratio => {
  const [logA, logB] = [a.map(Math.log), b.map(Math.log)]
  const difference = mean(logA) - mean(logB)
  const ratio = Math.exp(difference)
  if (a.length < 2 || b.length < 2) return { ratio, interval: null }
  const [shareA, shareB] = [variance(logA) / a.length, variance(logB) / b.length]
  const error = Math.sqrt(shareA + shareB)
  const freedom = (shareA + shareB) ** 2 / (shareA ** 2 / (a.length - 1) + shareB ** 2 / (b.length - 1))
  const reach = error === 0 ? 0 : student95(freedom) * error
  return { ratio, interval: [Math.exp(difference - reach), Math.exp(difference + reach)] }
}
