import { type Case, isReal, keysOf } from './case.ts'
import { rowsOfRequest } from './right.ts'

/**
 * Query rows to look at closely, most suspicious first: of the shortest and the longest request the first and last row, of
 * requests on the border of a rank's shard, the last row of the batch; then some at random, the same for the same case.
 */
export const chooseRows = (c: Case, most: number): number[] => {
  const real = Array.from({ length: c.rows }, (_, row) => row).filter((row) => isReal(c, row))
  if (real.length <= most) return real
  const chosen = new Set<number>()
  const take = (row: number | undefined): void => {
    if (row !== undefined && chosen.size < most) chosen.add(row)
  }
  const requests = [...new Set(real.map((row) => c.requestOf[row] ?? 0))]
  const byLength = [...requests].sort((a, b) => (c.lengths?.[a] ?? 0) - (c.lengths?.[b] ?? 0))
  take(real.at(-1))
  take(real[0])
  for (const request of [byLength.at(-1), byLength[0], byLength[byLength.length >> 1]]) {
    const rows = request === undefined ? [] : rowsOfRequest(c, request)
    take(rows[0])
    take(rows.at(-1))
  }
  const uneven = real.find((row) => {
    const keys = c.ranks.map(({ rank }) => keysOf(c, rank, row) ?? 0)
    return Math.min(...keys) === 0 && Math.max(...keys) > 0
  })
  take(uneven)
  // A walk with a stride that has no common divisor with the count meets every row once.
  const stride = coprimeStride(real.length)
  for (let i = 0; chosen.size < most; i++) take(real[(i * stride) % real.length])
  return [...chosen]
}

const coprimeStride = (count: number): number => {
  const divides = (a: number, b: number): number => (b === 0 ? a : divides(b, a % b))
  let stride = Math.max(1, Math.floor(count * 0.618))
  while (divides(count, stride) !== 1) stride++
  return stride
}
