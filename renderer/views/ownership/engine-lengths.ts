import type { StoreResult } from '../../../app/protocol/store.ts'

/** Lengths of one request as the engine recorded them. */
export interface EngineLengths {
  readonly globalLen: number
  /** By rank. */
  readonly localLens: readonly number[]
  /** Keys that the last query token attends to, by rank: fewer than its length when attention is sparse. */
  readonly attended: readonly number[]
}

/**
 * Lengths of `request` out of the row statistics of one step; null while a rank has no rows there, as each
 * rank's are written on their own while a run goes on.
 */
export const engineLengths = (
  rows: StoreResult<'rows'>,
  request: number,
  ranks: number,
): EngineLengths | null => {
  const localLens = new Array<number>(ranks).fill(-1)
  const attended = new Array<number>(ranks).fill(0)
  const lastQuery = new Array<number>(ranks).fill(-1)
  let globalLen = -1
  for (let i = 0; i < rows.request.length; i++) {
    if (rows.request[i] !== request) continue
    globalLen = Math.max(globalLen, rows.globalLen[i] ?? -1)
    const rank = rows.rank[i] ?? 0
    const query = rows.qIndex[i] ?? 0
    localLens[rank] = rows.localLen[i] ?? 0
    if (query < (lastQuery[rank] ?? 0)) continue
    lastQuery[rank] = query
    attended[rank] = rows.visibleKeys[i] ?? 0
  }
  return localLens.includes(-1) ? null : { globalLen, localLens, attended }
}

/** Whether the engine's lengths are those that the ownership rule gives. */
export const lengthsAgree = (recorded: EngineLengths, len: number, local: readonly number[]): boolean =>
  recorded.globalLen === len &&
  recorded.localLens.length === local.length &&
  local.every((l, rank) => l === recorded.localLens[rank])
