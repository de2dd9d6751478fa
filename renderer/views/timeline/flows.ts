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
}

/** Codes of the stages in which some rank waited. */
const meetingStages = (tiles: readonly SpanTile[]): ReadonlySet<number> =>
  new Set(tiles.flatMap(({ stage, wait }) => Array.from(stage).filter((_, i) => (wait[i] ?? 0) > 0)))

/** Single spans of these stages, by what they share with those of other ranks. */
const addEntries = (tile: SpanTile, stages: ReadonlySet<number>, groups: Map<string, Entry[]>): void => {
  for (let i = 0; i < tile.rank.length; i++) {
    if (tile.count[i] !== 1 || !stages.has(tile.stage[i] ?? 0)) continue
    const waitNs = tile.wait[i] ?? 0
    const startNs = tile.start[i] ?? 0
    // All ranks learn of the last entry: with the step, layer and stage it tells one collective from another.
    const key = `${tile.step[i]} ${tile.layer[i]} ${tile.stage[i]} ${startNs + waitNs}`
    const group = groups.get(key) ?? []
    const rank = tile.rank[i] ?? 0
    // A span that reaches over the border of two tiles is in both.
    if (group.some((entry) => entry.rank === rank)) continue
    group.push({ rank, startNs, waitNs })
    groups.set(key, group)
  }
}

const flowOf = (group: readonly Entry[]): Flow | null => {
  if (group.length < 2) return null
  const last = group.reduce((late, entry) => (entry.startNs > late.startNs ? entry : late))
  const first = group.reduce((early, entry) => (entry.startNs < early.startNs ? entry : early))
  if (first.startNs === last.startNs) return null
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
  const tiles = [...new Set(pieces.map((piece) => piece.tile))]
  const stages = meetingStages(tiles)
  for (const tile of tiles) addEntries(tile, stages, groups)
  return [...groups.values()]
    .flatMap((group) => flowOf(group) ?? [])
    .sort((a, b) => a.lastEnterNs - b.lastEnterNs)
}
