import { type Case, isSparse, toldTokens, visibleTo } from '../case.ts'
import { readRow } from '../rows.ts'

/**
 * Where merged holds values although by the lengths no rank has a key: then the lengths are not those of the step, or the merge
 * took something for a key. Rows of the padding of a graph may hold anything. Undefined: nowhere; `most` rows are looked at.
 */
export const mergedWithoutKeys = async (
  c: Case,
  most: number,
  aborted: () => void,
): Promise<string | undefined> => {
  if (c.graph || isSparse(c)) return undefined
  let left = most
  for (let row = 0; row < c.rows && left > 0; row++) {
    aborted()
    const request = c.requestOf[row] ?? -1
    const length = toldTokens(c, request)
    if (length === undefined || visibleTo(c, row, length) > 0) continue
    left--
    for (const { rank } of c.ranks) {
      const merged = await readRow(c, rank, 'merged', row)
      if (merged?.some((value) => value !== 0 && !Number.isNaN(value)) === true)
        return (
          `merged has values in row ${row} (rank ${rank}) although by the lengths request ${request} has no token that it could ` +
          'see: they are not those of this step, or were dumped before they were set'
        )
    }
  }
  return undefined
}
