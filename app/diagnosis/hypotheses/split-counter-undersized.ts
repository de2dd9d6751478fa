import type { Case } from '../case.ts'
import type { Hypothesis, PartialPrediction } from '../hypothesis.ts'
import { needs, REFERENCE } from '../needs.ts'
import type { PartialContext, PartialRow } from '../partial-reference.ts'

/** Ends of the first split that are tried: whole tiles of keys. */
const TILE = 64
/** Rounds of looking closer, and ends that are tried at once. */
const TRIED = 24

/** Whether counters for the heads of one rank reach to a row and head. */
const hasCounter = (c: Case, row: number, head: number): boolean =>
  row * c.heads + head < (c.rows * c.heads) / c.dcp

/** One split only for what has no counter, at whichever whole number of tiles it ends best. */
const partials = (c: Case): PartialPrediction[] => [
  {
    detail: 'with the first split of keys only, for rows and heads beyond the counters of one rank,',
    partial: async (context) => {
      const heads = Array.from({ length: c.heads }, (_, head) => head).filter(
        (head) => !hasCounter(c, context.row, head),
      )
      const seen = context.seen.lse
      const right = heads.length === 0 || seen === undefined ? undefined : await context.right()
      if (right === undefined || seen === undefined || context.rightCount <= TILE) return undefined
      const split = await firstSplit(context, seen, heads)
      return split === undefined ? undefined : mixed(c, right, split, heads)
    },
  },
]

/** The prefix whose lse is nearest to what was seen. */
const firstSplit = async (
  context: PartialContext,
  seen: Float64Array,
  heads: readonly number[],
): Promise<PartialRow | undefined> => {
  const tiles = Math.ceil(context.rightCount / TILE)
  let [from, to] = [1, tiles]
  let best: { tiles: number; off: number; row: PartialRow } | undefined
  for (let step = Math.ceil(tiles / TRIED); ; step = Math.ceil(step / TRIED)) {
    const ends: number[] = []
    for (let at = from; at <= to; at += step) ends.push(at)
    const prefixes = await context.prefixes(ends.map((at) => Math.min(at * TILE, context.rightCount)))
    for (const at of ends) {
      const row = prefixes.get(Math.min(at * TILE, context.rightCount))
      if (row === undefined) continue
      const off = heads.reduce((sum, head) => sum + ((seen[head] ?? 0) - (row.lse[head] ?? 0)) ** 2, 0)
      if (best === undefined || off < best.off) best = { tiles: at, off, row }
    }
    if (best === undefined || step === 1) return best?.row
    from = Math.max(1, best.tiles - step)
    to = Math.min(tiles, best.tiles + step)
  }
}

/** `split` for some heads, `right` for the others. */
const mixed = (c: Case, right: PartialRow, split: PartialRow, heads: readonly number[]): PartialRow => {
  const out = Float64Array.from(right.out)
  const lse = Float64Array.from(right.lse)
  for (const head of heads) {
    out.set(split.out.subarray(head * c.width, (head + 1) * c.width), head * c.width)
    lse[head] = split.lse[head] ?? Number.NEGATIVE_INFINITY
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
