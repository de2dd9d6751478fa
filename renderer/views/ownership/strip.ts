import { localLengths, owner } from '../../../app/dcp/ownership.ts'
import type { Sharding } from '../../../app/dcp/types.ts'
import { formatInt } from '../../drawing/format.ts'
import { positionAt, type Viewport, xOf } from './viewport.ts'

/** Consecutive tokens of one rank; `x` and `width` in pixels of the strip. */
export interface Run {
  readonly first: number
  readonly count: number
  readonly rank: number
  readonly x: number
  readonly width: number
}

/** Consecutive tokens of several ranks: `shares[r]` of them are rank r's; they sum to `count`. */
export interface Band {
  readonly first: number
  readonly count: number
  readonly shares: readonly number[]
  readonly x: number
  readonly width: number
}

/**
 * What the strip shows, by level of detail: single tokens; where those are too narrow, runs of one owner; and
 * where those are too, bands of whole rounds with the share of each rank.
 */
export type Strip =
  | { readonly kind: 'cells'; readonly runs: readonly Run[] }
  | { readonly kind: 'runs'; readonly runs: readonly Run[] }
  | { readonly kind: 'shares'; readonly bands: readonly Band[] }

const MIN_CELL = 2
const MIN_BAND = 4

/** Pieces of `size` tokens from `origin` on, as far as they lie within. */
const pieces = (first: number, end: number, size: number, origin = 0): { first: number; count: number }[] => {
  const found: { first: number; count: number }[] = []
  for (let at = first; at < end; ) {
    const next = Math.min(end, origin + (Math.floor((at - origin) / size) + 1) * size)
    found.push({ first: at, count: next - at })
    at = next
  }
  return found
}

/** Tokens of `first` to `first + count` that each rank owns. */
export const sharesOf = (first: number, count: number, sharding: Sharding): number[] => {
  const before = localLengths(first, sharding)
  return localLengths(first + count, sharding).map((after, rank) => after - (before[rank] ?? 0))
}

/** At most about width / 2 items, however many tokens are in view. `width` in pixels. */
export const stripOf = (view: Viewport, width: number, len: number, sharding: Sharding): Strip => {
  const first = Math.min(len, Math.max(0, Math.floor(view.start)))
  const end = Math.min(len, Math.ceil(positionAt(width, view)))
  const place = (from: number, count: number) => ({
    first: from,
    count,
    x: xOf(from, view),
    width: count * view.scale,
  })
  const { prompt = end } = sharding
  const split = Math.min(Math.max(prompt, first), end)
  const runs = (size: number): Run[] =>
    [...pieces(first, split, size), ...pieces(split, end, size, prompt)].map((p) => ({
      ...place(p.first, p.count),
      rank: owner(p.first, sharding),
    }))
  if (view.scale >= MIN_CELL) return { kind: 'cells', runs: runs(1) }
  if (sharding.dcp === 1) return { kind: 'runs', runs: end > first ? runs(Math.max(1, end)) : [] }
  if (sharding.interleave * view.scale >= MIN_CELL) return { kind: 'runs', runs: runs(sharding.interleave) }
  const round = sharding.dcp * sharding.interleave
  const size = Math.ceil(MIN_BAND / view.scale / round) * round
  const from = Math.floor(first / size) * size
  return {
    kind: 'shares',
    bands: pieces(from, end, size).map((p) => ({
      ...place(p.first, p.count),
      shares: sharesOf(p.first, p.count, sharding),
    })),
  }
}

/** Sentence for the reader: what one mark of the strip stands for. */
export const detailText = (strip: Strip, { dcp, interleave }: Sharding): string => {
  switch (strip.kind) {
    case 'cells':
      return 'one cell is one token'
    case 'runs':
      return dcp === 1
        ? 'one rank holds every token'
        : `one cell is a run of ${interleave} tokens of one rank`
    case 'shares':
      return `one band is ${formatInt(strip.bands[0]?.count ?? 0)} tokens, split by the share of each rank`
  }
}
