import type { Case } from '../case.ts'
import type { Hypothesis, PartialPrediction } from '../hypothesis.ts'
import { needs, REFERENCE } from '../needs.ts'
import type { PartialContext, PartialRow } from '../partial-reference.ts'

/** Keys of the smallest tile of a kernel: a split holds whole ones. */
const TILE = 16
/** Heads whose keys a kernel splits alike at least. */
const HEADS_TOGETHER = 16
/** Ends of the first split that are tried in a first round, and how much closer each further one looks. */
const TRIED = 12
const CLOSER = 4

/** Whether counters for the heads of one rank reach to a row and head. */
const hasCounter = (c: Case, row: number, head: number): boolean =>
  row * c.heads + head < (c.rows * c.heads) / c.dcp

/** One split only for what has no counter, at whichever whole number of tiles it ends best. */
const partials = (c: Case): PartialPrediction[] => [
  {
    detail: 'with the first split of keys only, for rows and heads beyond the counters of one rank,',
    partial: async (context) => {
      const blocks = Array.from({ length: Math.ceil(c.heads / HEADS_TOGETHER) }, (_, block) =>
        headsOf(c, block).filter((head) => !hasCounter(c, context.row, head)),
      ).filter((heads) => heads.length > 0)
      const seen = context.seen.lse
      const right = blocks.length === 0 || seen === undefined ? undefined : await context.right()
      if (right === undefined || seen === undefined || context.rightCount <= TILE) return undefined
      const splits = await firstSplits(context, seen, blocks)
      return splits === undefined ? undefined : mixed(c, right, splits)
    },
  },
]

/** Heads of a block of those that are split alike. */
const headsOf = (c: Case, block: number): number[] =>
  Array.from(
    { length: Math.min(HEADS_TOGETHER, c.heads - block * HEADS_TOGETHER) },
    (_, i) => block * HEADS_TOGETHER + i,
  )

/** Heads of a block, and the end of their first split that fits best so far, with its row. */
interface Split {
  readonly heads: readonly number[]
  tiles: number
  off: number
  row: PartialRow | undefined
}

/** For each block of heads the prefix of keys whose lse is nearest to what was seen. */
const firstSplits = async (
  context: PartialContext,
  seen: Float64Array,
  blocks: readonly (readonly number[])[],
): Promise<readonly Split[] | undefined> => {
  const tiles = Math.ceil(context.rightCount / TILE)
  const keysOf = (end: number): number => Math.min(end * TILE, context.rightCount)
  const splits = blocks.map(
    (heads): Split => ({ heads, tiles: 1, off: Number.POSITIVE_INFINITY, row: undefined }),
  )
  let ends = new Set<number>()
  let step = Math.ceil(tiles / TRIED)
  for (let end = 1; end <= tiles; end += step) ends.add(end)
  for (;;) {
    const prefixes = await context.prefixes([...ends].sort((a, b) => a - b).map(keysOf))
    for (const split of splits)
      for (const end of ends) {
        const row = prefixes.get(keysOf(end))
        if (row === undefined) continue
        const off = distance(seen, row, split.heads)
        if (off < split.off) Object.assign(split, { tiles: end, off, row })
      }
    if (splits.some(({ row }) => row === undefined)) return undefined
    if (step === 1) return splits
    const closer = Math.ceil(step / CLOSER)
    ends = new Set()
    for (const split of splits)
      for (
        let end = Math.max(1, split.tiles - step);
        end <= Math.min(tiles, split.tiles + step);
        end += closer
      )
        ends.add(end)
    step = closer
  }
}

/** Sum of squared differences of lse. */
const distance = (seen: Float64Array, row: PartialRow, heads: readonly number[]): number =>
  heads.reduce((sum, head) => sum + ((seen[head] ?? 0) - (row.lse[head] ?? 0)) ** 2, 0)

/** What the splits hold for their heads, `right` for the others. */
const mixed = (c: Case, right: PartialRow, splits: readonly Split[]): PartialRow => {
  const out = Float64Array.from(right.out)
  const lse = Float64Array.from(right.lse)
  for (const { heads, row } of splits) {
    if (row === undefined) continue
    for (const head of heads) {
      out.set(row.out.subarray(head * c.width, (head + 1) * c.width), head * c.width)
      lse[head] = row.lse[head] ?? Number.NEGATIVE_INFINITY
    }
  }
  return { out, lse }
}

export const splitCounterUndersized: Hypothesis = {
  fault: 'split-counter-undersized',
  title: 'Counters of split KV are too few',
  causes: [
    {
      text: 'counters of split KV are sized by the heads of one rank while the kernel runs those of the group: they have to be heads x dcp size',
      source: 'sgl-project/sglang, trtllm_mla backend: counters are sized by gathered heads',
    },
  ],
  captureNext: 'q, kv, block_table, seq_lens_global, out and lse of all ranks, in a step with a long request',
  needs: [needs(...REFERENCE, 'lse or lse_kernel')],
  partials,
}
