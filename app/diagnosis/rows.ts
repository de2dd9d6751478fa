import type { Case } from './case.ts'

/** Values of one query row; absent where the dump has none. Arrays are by rank, [c]. */
export interface Row {
  readonly row: number
  /** [H * D]. */
  readonly q: Float64Array | undefined
  /** [H * W] of each rank. */
  readonly out: readonly (Float64Array | undefined)[]
  readonly outKernel: readonly (Float64Array | undefined)[]
  /** [kept heads * W] of each rank. */
  readonly merged: readonly (Float64Array | undefined)[]
}

/** Heads that a rank keeps after the merge: H / c, or H; 0 where nothing is dumped. */
export const keptHeads = (c: Case): number => {
  for (const { dump } of c.ranks)
    if (dump.reader.has('merged')) return dump.reader.tensor('merged').shape[1] ?? 0
  return 0
}

/** Head of the group that a rank keeps at `place`. */
export const keptHead = (c: Case, kept: number, rank: number, place: number): number =>
  kept === c.heads ? place : rank * kept + place

/** One row of a tensor of one rank. */
export const readRow = async (
  c: Case,
  rank: number,
  name: string,
  row: number,
): Promise<Float64Array | undefined> => {
  const reader = c.byRank.get(rank)?.dump.reader
  if (reader === undefined || !reader.has(name)) return undefined
  const [, heads = 0, width = 0] = reader.tensor(name).shape
  return reader.values(name, row * heads * width, heads * width)
}

/** Reads what the dump has of one query row. */
export const loadRow = async (c: Case, row: number): Promise<Row> => {
  const all = async (name: string): Promise<(Float64Array | undefined)[]> => {
    const found: (Float64Array | undefined)[] = []
    for (let rank = 0; rank < c.dcp; rank++) found.push(await readRow(c, rank, name, row))
    return found
  }
  const q = c.ranks.find(({ dump }) => dump.reader.has('q'))
  return {
    row,
    q: q === undefined ? undefined : await readRow(c, q.rank, 'q', row),
    out: await all('out'),
    outKernel: await all('out_kernel'),
    merged: await all('merged'),
  }
}
