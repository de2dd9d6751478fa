/** What paired differences say: Wilcoxon's signed-rank test, and the Hodges-Lehmann estimate that belongs to it. */
export interface SignedRank {
  /** Two-sided p of "no difference". Assumes that the differences are independent; under "no difference" each may have either sign. */
  readonly p: number
  /** Median of the means of all pairs of differences. */
  readonly estimate: number
  /** 95% confidence interval of the estimate; infinite where there are too few differences for one. */
  readonly low: number
  readonly high: number
}

/** Up to here the distribution is counted out; above, a normal one is close. */
const MOST_EXACT = 50
const Z_95 = 1.959964

/** Of no differences p is 1 and the rest NaN. Differences of 0 tell for neither side and are left out of p. */
export const signedRank = (differences: readonly number[]): SignedRank => {
  const walsh = walshAverages(differences)
  const reach = lowestRank(differences.length)
  return {
    p: pOf(differences.filter((d) => d !== 0)),
    estimate: middle(walsh),
    low: reach === null ? Number.NEGATIVE_INFINITY : (walsh[reach] ?? Number.NaN),
    high: reach === null ? Number.POSITIVE_INFINITY : (walsh[walsh.length - 1 - reach] ?? Number.NaN),
  }
}

/** Median of values in order; NaN of none. */
const middle = (sorted: Float64Array): number => {
  const half = (sorted.length - 1) / 2
  return ((sorted[Math.floor(half)] ?? Number.NaN) + (sorted[Math.ceil(half)] ?? Number.NaN)) / 2
}

/** Means of all pairs, each with itself too, in order. */
const walshAverages = (values: readonly number[]): Float64Array => {
  const all = new Float64Array((values.length * (values.length + 1)) / 2)
  let at = 0
  values.forEach((one, i) => {
    for (let j = 0; j <= i; j++) all[at++] = (one + (values[j] ?? 0)) / 2
  })
  return all.sort()
}

const pOf = (differences: readonly number[]): number => {
  const count = differences.length
  if (count === 0) return 1
  const { ranks, ties } = doubledRanks(differences.map(Math.abs))
  const total = ranks.reduce((sum, rank) => sum + rank, 0)
  const positive = ranks.reduce((sum, rank, i) => sum + ((differences[i] ?? 0) > 0 ? rank : 0), 0)
  const least = Math.min(positive, total - positive)
  if (count <= MOST_EXACT) {
    const shares = distribution(ranks, total)
    let tail = 0
    for (let sum = 0; sum <= least; sum++) tail += shares[sum] ?? 0
    return Math.min(1, 2 * tail)
  }
  const variance = (count * (count + 1) * (2 * count + 1)) / 24 - ties / 48
  // Half a rank towards the middle: ranks are whole numbers.
  const z = Math.max(0, total / 4 - least / 2 - 0.5) / Math.sqrt(variance)
  return 2 * upperTail(z)
}

/** Twice the rank of each value, ties at their mean, which makes them whole; and the sum of t^3 - t over ties of t. */
const doubledRanks = (
  values: readonly number[],
): { readonly ranks: readonly number[]; readonly ties: number } => {
  const order = values.map((_, i) => i).sort((a, b) => (values[a] ?? 0) - (values[b] ?? 0))
  const ranks = new Array<number>(values.length).fill(0)
  let ties = 0
  for (let from = 0; from < order.length; ) {
    let to = from
    while (to < order.length && values[order[to] ?? 0] === values[order[from] ?? 0]) to++
    for (let i = from; i < to; i++) ranks[order[i] ?? 0] = from + to + 1
    ties += (to - from) ** 3 - (to - from)
    from = to
  }
  return { ranks, ties }
}

/** Share of all choices of signs by the sum of the positive ranks. */
const distribution = (ranks: readonly number[], total: number): Float64Array => {
  const shares = new Float64Array(total + 1)
  shares[0] = 1
  let reached = 0
  for (const rank of ranks) {
    reached += rank
    for (let sum = reached; sum >= 0; sum--)
      shares[sum] = ((shares[sum] ?? 0) + (sum >= rank ? (shares[sum - rank] ?? 0) : 0)) / 2
  }
  return shares
}

/** Place in order of the Walsh average at which the 95% interval begins; null where there are too few values. */
const lowestRank = (count: number): number | null => {
  if (count > MOST_EXACT) {
    const middle = (count * (count + 1)) / 4
    return Math.max(0, Math.floor(middle - Z_95 * Math.sqrt((count * (count + 1) * (2 * count + 1)) / 24)))
  }
  const ranks = Array.from({ length: count }, (_, i) => i + 1)
  const shares = distribution(ranks, (count * (count + 1)) / 2)
  let tail = 0
  for (let sum = 0; sum < shares.length; sum++) {
    tail += shares[sum] ?? 0
    if (tail > 0.025) return sum === 0 ? null : sum - 1
  }
  return null
}

/** Share of a standard normal distribution above z >= 0 (Abramowitz and Stegun 7.1.26, to 1.5e-7). */
const upperTail = (z: number): number => {
  const x = z / Math.SQRT2
  const t = 1 / (1 + 0.3275911 * x)
  const poly =
    t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
  return (poly * Math.exp(-x * x)) / 2
}

/** Holm's correction: p of each of several tests, so that one at 0.05 of them all together is wrong in at most 5% of cases. */
export const holm = (ps: readonly number[]): number[] => {
  const order = ps.map((_, i) => i).sort((a, b) => (ps[a] ?? 1) - (ps[b] ?? 1))
  const corrected = new Array<number>(ps.length).fill(1)
  let most = 0
  order.forEach((at, place) => {
    most = Math.max(most, Math.min(1, (ps[at] ?? 1) * (ps.length - place)))
    corrected[at] = most
  })
  return corrected
}
