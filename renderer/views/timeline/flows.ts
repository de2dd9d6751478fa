import type { SpanTile, TilePiece } from './tiles.ts'

/** A collective as far as tiles show it: who entered when, and the rank that all waited for. */
export interface Flow {
  readonly lastRank: number
  /** When the last rank entered, ns. */
  readonly lastEnterNs: number
  /** When the first one did. */
  readonly firstEnterNs: number
  /** Ranks that entered. */
  readonly ranks: readonly number[]
}

interface Entry {
  readonly rank: number
  readonly startNs: number
  readonly waitNs: number
  /** The same for all ranks of a collective: they all learn of its last entry. */
  readonly key: string
}

/** Of a tile, which does not change, once. */
const ENTRIES = new WeakMap<SpanTile, readonly Entry[]>()

/** The single spans of stages in which some rank waited. */
const entriesOf = (tile: SpanTile): readonly Entry[] => {
  const known = ENTRIES.get(tile)
  if (known !== undefined) return known
  const stages = new Set<number>()
  for (let i = 0; i < tile.rank.length; i++) if ((tile.wait[i] ?? 0) > 0) stages.add(tile.stage[i] ?? 0)
  const entries: Entry[] = []
  for (let i = 0; i < tile.rank.length; i++) {
    if (tile.count[i] !== 1 || !stages.has(tile.stage[i] ?? 0)) continue
    const [startNs, waitNs] = [tile.start[i] ?? 0, tile.wait[i] ?? 0]
    const key = `${tile.step[i]} ${tile.layer[i]} ${tile.stage[i]} ${startNs + waitNs}`
    entries.push({ rank: tile.rank[i] ?? 0, startNs, waitNs, key })
  }
  ENTRIES.set(tile, entries)
  return entries
}

const flowOf = (group: readonly Entry[]): Flow | null => {
  const last = group.find(({ waitNs }) => waitNs === 0)
  const first = group.reduce((early, entry) => (entry.startNs < early.startNs ? entry : early))
  // Without the rank that came last it is not known for whom the others waited.
  if (last === undefined || first.startNs === last.startNs) return null
  return {
    lastRank: last.rank,
    lastEnterNs: last.startNs,
    firstEnterNs: first.startNs,
    ranks: group.map(({ rank }) => rank),
  }
}

/** The collectives of which tiles have the single spans of several ranks, and in which some waited; by the last entry. */
export const flowsIn = (pieces: readonly TilePiece[]): readonly Flow[] => {
  const groups = new Map<string, Entry[]>()
  for (const tile of new Set(pieces.map((piece) => piece.tile)))
    for (const entry of entriesOf(tile)) {
      const group = groups.get(entry.key)
      if (group === undefined) groups.set(entry.key, [entry])
      // A span that reaches over the border of two tiles is in both.
      else if (!group.some(({ rank }) => rank === entry.rank)) group.push(entry)
    }
  return [...groups.values()]
    .flatMap((group) => flowOf(group) ?? [])
    .sort((a, b) => a.lastEnterNs - b.lastEnterNs)
}
