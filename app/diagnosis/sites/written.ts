import type { Case, RankTables } from '../case.ts'
import type { Claim } from '../claim.ts'
import type { Hypothesis } from '../hypothesis.ts'
import { KeyReader } from '../keys.ts'
import { rightLength, rowsOfRequest } from '../right.ts'
import { tableClaims } from './tables.ts'

/** Requests of a rank that are looked at. */
const MOST_REQUESTS = 1024

/**
 * Whether the keys that a rank has to hold were ever written: rows of zeros at the end of them were not. More keys than that may
 * be left from before and mean nothing.
 */
export const writtenClaims = async (
  c: Case,
  hypotheses: readonly Hypothesis[],
  aborted: () => void,
): Promise<Claim[]> => {
  const reader = new KeyReader(c)
  const written = new Map<number, Float64Array>()
  for (const rank of c.ranks) {
    const counts = new Float64Array(Math.min(c.batch, MOST_REQUESTS)).fill(Number.NaN)
    for (let request = 0; request < counts.length; request++) {
      aborted()
      const count = await writtenKeys(c, reader, rank, request)
      if (count !== undefined) counts[request] = count
    }
    written.set(rank.rank, counts)
  }
  return tableClaims(c, hypotheses, {
    name: 'written keys',
    unit: 'keys',
    observed: ({ rank }) => written.get(rank),
    expected: (rank, request) =>
      Number.isNaN(written.get(rank.rank)?.[request]) ? undefined : rightLength(c, rank, request),
    rowsOf: (request) => rowsOfRequest(c, request),
    label: (request) => `request ${request}`,
    predictions: (hypothesis) =>
      (hypothesis.written?.(c) ?? []).map(({ detail, at }) => ({
        detail,
        at: (rank, request) => {
          const right = rightLength(c, rank, request)
          const predicted = at(rank, request)
          return right === undefined || predicted === undefined ? undefined : Math.min(right, predicted)
        },
      })),
    otherwise: () => undefined,
  })
}

/** Keys of a request up to the last one that is not all zeros, at most as many as there have to be. */
const writtenKeys = async (
  c: Case,
  reader: KeyReader,
  rank: RankTables,
  request: number,
): Promise<number | undefined> => {
  const right = rightLength(c, rank, request)
  if (right === undefined || right === 0) return undefined
  const isWritten = async (local: number): Promise<boolean | undefined> => {
    const key = await reader.one(rank, request, local)
    return key?.some((value) => value !== 0)
  }
  const last = await isWritten(right - 1)
  if (last === undefined || last) return last === undefined ? undefined : right
  let [least, most] = [0, right - 1]
  while (least < most) {
    const middle = Math.floor((least + most) / 2)
    if ((await isWritten(middle)) === true) least = middle + 1
    else most = middle
  }
  return least
}
