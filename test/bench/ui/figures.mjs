// @ts-check

const SORT = (/** @type {number} */ a, /** @type {number} */ b) => a - b

/** To a tenth. @param {number} value */
export const tenth = (value) => Math.round(value * 10) / 10

/** @param {readonly number[]} values @param {number} q */
export const quantile = (values, q) => {
  const sorted = [...values].sort(SORT)
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN
}

/** @param {readonly number[]} values */
export const spread = (values) => ({
  p50: tenth(quantile(values, 0.5)),
  p95: tenth(quantile(values, 0.95)),
  worst: tenth(quantile(values, 1)),
})

export const mb = (/** @type {number} */ bytes) => tenth(bytes / 2 ** 20)

/** A figure, what it aims at, and whether it does. @param {number} value @param {number} below */
export const aimed = (value, below) => ({ value, below, met: value < below })

/** 97.5% points of Student's distribution by degrees of freedom, from 1; beyond the last they are close to the normal one. */
const T_975 = [12.71, 4.3, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.2, 2.18, 2.16, 2.14, 2.13, 2.12]
const T_MANY = 2.05

/** Least-squares slope with its 95% interval. @param {readonly { x: number, y: number }[]} points */
export const slopeOf = (points) => {
  const n = points.length
  const meanX = points.reduce((sum, { x }) => sum + x, 0) / n
  const meanY = points.reduce((sum, { y }) => sum + y, 0) / n
  const sxx = points.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0)
  const slope = points.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0) / sxx
  const rest = points.reduce((sum, { x, y }) => sum + (y - meanY - slope * (x - meanX)) ** 2, 0)
  const half = (T_975[n - 3] ?? T_MANY) * Math.sqrt(rest / (n - 2) / sxx)
  return { slope, low: slope - half, high: slope + half }
}
