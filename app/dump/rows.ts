import type { DumpInfo } from './dump.ts'
import type { DumpGroup } from './dumps.ts'
import type { TensorReader } from './reader.ts'

/** Which request and query token each row of a group is. Rows of padding behind the batch are requests behind its last. */
export interface RowNames {
  readonly request: Int32Array<ArrayBuffer>
  readonly qIndex: Int32Array<ArrayBuffer>
}

/** By the first row of each request where the dump has them, else by equal query lengths. */
export const rowNames = (rows: number, qLen: number, starts: ArrayLike<number> | undefined): RowNames => {
  const request = new Int32Array(rows)
  const qIndex = new Int32Array(rows)
  const requests = starts === undefined ? 0 : Math.max(0, starts.length - 1)
  const end = starts?.[requests] ?? 0
  for (let row = 0, at = 0; row < rows; row++) {
    if (starts === undefined || row >= end) {
      const from = row - end
      request[row] = requests + Math.floor(from / qLen)
      qIndex[row] = from % qLen
      continue
    }
    while (at + 1 < requests && row >= (starts[at + 1] ?? 0)) at++
    request[row] = at
    qIndex[row] = row - (starts[at] ?? 0)
  }
  return { request, qIndex }
}

/** Query rows and heads of the attention call of a group, as its tensors show them; 0 where none does. */
export const callSize = ({ ranks }: DumpGroup): { readonly rows: number; readonly heads: number } => {
  for (const { reader } of ranks.values())
    for (const name of ['out', 'lse', 'q', 'out_kernel', 'lse_kernel'])
      if (reader.has(name)) {
        const [rows = 0, heads = 0] = reader.tensor(name).shape
        return { rows, heads }
      }
  for (const { reader, info } of ranks.values())
    if (reader.has('merged')) {
      const [rows = 0, kept = 0] = reader.tensor('merged').shape
      return { rows, heads: info.numHeads ?? kept * info.dcpSize }
    }
  return { rows: 0, heads: 0 }
}

/** Names of the rows of a group, by its first rank that says more than their number. */
export const rowNamesOf = async (group: DumpGroup, rows: number): Promise<RowNames> => {
  const [first] = group.ranks.values()
  const told = [...group.ranks.values()].find(({ reader }) => reader.has('query_start'))
  const starts = told === undefined ? undefined : await told.reader.values('query_start')
  return rowNames(rows, first?.info.qLen ?? 1, starts)
}

/** First head that a rank keeps in `merged`: it keeps all, or its share. */
export const firstKeptHead = (reader: TensorReader, { rank, dcpSize }: DumpInfo, heads: number): number => {
  if (rank === 'reference' || !reader.has('merged')) return 0
  const [, kept = 0] = reader.tensor('merged').shape
  return kept * dcpSize === heads ? rank * kept : 0
}
