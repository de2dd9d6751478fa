import type { Case, RankTables } from '../case.ts'
import type { Claim } from '../claim.ts'
import type { Hypothesis, TablePrediction } from '../hypothesis.ts'
import { KeyReader } from '../keys.ts'
import { rightLength, rowsOfRequest } from '../right.ts'
import { tableClaims } from './tables.ts'

/** Requests of a rank that are looked at. */
const MOST_REQUESTS = 1024
/** Weight of every prediction here: keys that are missing are no trace of where they went. */
const CHOSEN = 2

export interface WrittenResult {
  readonly claims: readonly Claim[]
  readonly unexplained: string | undefined
}

/**
 * Whether the keys that a rank has to hold were ever written: rows of zeros at the end of them were not. More keys than that may
 * be left from before and mean nothing, unless they are missing where tokens were dealt out otherwise.
 */
export const writtenKeys = async (
  c: Case,
  hypotheses: readonly Hypothesis[],
  aborted: () => void,
): Promise<WrittenResult> => {
  const reader = new KeyReader(c)
  const written = new Map<number, Float64Array>()
  for (const rank of c.ranks) {
    const counts = new Float64Array(Math.min(c.batch, MOST_REQUESTS)).fill(Number.NaN)
    for (let request = 0; request < counts.length; request++) {
      aborted()
      const count = await countWritten(c, reader, rank, request)
      if (count !== undefined) counts[request] = count
    }
    written.set(rank.rank, counts)
  }
  const lacks = lacking(c, written)
  if (lacks.length === 0) return { claims: [], unexplained: undefined }
  const predictions = new Map<Hypothesis, readonly TablePrediction[]>()
  for (const hypothesis of hypotheses)
    predictions.set(hypothesis, await checked(c, reader, lacks, hypothesis.written?.(c) ?? [], aborted))
  const claims = tableClaims(c, hypotheses, {
    name: 'written keys',
    unit: 'keys',
    observed: ({ rank }) => written.get(rank),
    expected: (rank, request) =>
      Number.isNaN(written.get(rank.rank)?.[request]) ? undefined : rightLength(c, rank, request),
    rowsOf: (request) => rowsOfRequest(c, request),
    label: (request) => `request ${request}`,
    predictions: (hypothesis) => predictions.get(hypothesis) ?? [],
    // A request of which nothing is written, or one of all of them, fits nearly anything.
    speakFor: (cells) => cells.filter(({ observed }) => observed > 0).length > 1,
    otherwise: () => undefined,
  })
  return { claims, unexplained: claims.length > 0 ? undefined : sentence(c, lacks) }
}

interface Lack {
  readonly rank: RankTables
  readonly request: number
  readonly written: number
  readonly right: number
}

const lacking = (c: Case, written: ReadonlyMap<number, Float64Array>): Lack[] =>
  c.ranks.flatMap((rank) =>
    [...(written.get(rank.rank) ?? [])].flatMap((count, request) => {
      const right = rightLength(c, rank, request)
      return right === undefined || !(count < right) ? [] : [{ rank, request, written: count, right }]
    }),
  )

const sentence = (c: Case, lacks: readonly Lack[]): string | undefined => {
  const [first] = lacks
  if (first === undefined) return undefined
  const keys = lacks.reduce((sum, { written, right }) => sum + right - written, 0)
  const ranks = new Set(lacks.map(({ rank }) => rank.rank))
  return (
    `${keys} ${keys === 1 ? 'key' : 'keys'} that ${ranks.size === 1 ? `rank ${first.rank.rank} has` : `${ranks.size} ranks have`} to hold ` +
    `${keys === 1 ? 'is' : 'are'} all zeros in the cache, as if never written: the first is local key ${first.written} of request ` +
    `${first.request} on rank ${first.rank.rank} of ${c.dcp}, and no known fault explains it; capture slot_mapping of the steps that ` +
    'wrote them'
  )
}

/**
 * Predictions as they count here: at most as many keys as there have to be. Where tokens that are missing were dealt to other
 * requests of a rank, those have more keys, of which the last must have been written.
 */
const checked = async (
  c: Case,
  reader: KeyReader,
  lacks: readonly Lack[],
  predictions: readonly TablePrediction[],
  aborted: () => void,
): Promise<TablePrediction[]> => {
  const ranks = new Set(lacks.map(({ rank }) => rank))
  const found: TablePrediction[] = []
  for (const prediction of predictions) {
    const absent = new Set<string>()
    for (const rank of ranks)
      for (let request = 0; request < Math.min(c.batch, MOST_REQUESTS); request++) {
        aborted()
        const [right, predicted] = [rightLength(c, rank, request), prediction.at(rank, request)]
        if (right === undefined || predicted === undefined || predicted <= right) continue
        const last = await reader.one(rank, request, predicted - 1)
        if (last?.every((value) => value === 0) === true) absent.add(`${rank.rank}/${request}`)
      }
    found.push({
      ...prediction,
      weight: CHOSEN,
      at: (rank, request) => {
        const [right, predicted] = [rightLength(c, rank, request), prediction.at(rank, request)]
        if (right === undefined || predicted === undefined) return undefined
        return absent.has(`${rank.rank}/${request}`) ? Number.NaN : Math.min(right, predicted)
      },
    })
  }
  return found
}

/** Keys of a request up to the last one that is not all zeros, at most as many as there have to be. */
const countWritten = async (
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
