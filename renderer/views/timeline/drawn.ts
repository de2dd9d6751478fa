import { kindWord } from '../../../app/events/words.ts'
import { STAGES } from '../../../app/trace/stages.ts'
import { sourcesOfBits } from '../../drawing/provenance.ts'
import type { EventMark } from './event-marks.ts'
import { shortKernelName } from './kernel-name.ts'
import type { TimeRange } from './range.ts'
import { firstOfRank, type TileItems, type TilePiece } from './tiles.ts'

/** One thing that the timeline draws. */
export interface DrawnRow {
  readonly key: string
  readonly rank: number | null
  /** On which row of the rank it lies. */
  readonly row: 'graph' | 'stage' | 'kernel' | 'event'
  /** Stage, kernel or kind of event; of merged items what most of their time is. */
  readonly what: string
  /** Of the first. */
  readonly step: number
  readonly layer: number
  readonly startNs: number
  readonly durNs: number
  readonly waitNs: number
  /** More than 1: so many are drawn as one. */
  readonly count: number
  readonly sources: readonly string[]
}

const itemRows = (
  items: TileItems,
  row: DrawnRow['row'],
  rank: number,
  range: TimeRange,
  nameOf: (i: number) => string | undefined,
): DrawnRow[] => {
  const rows: DrawnRow[] = []
  for (let i = firstOfRank(items, rank); i < items.rank.length && items.rank[i] === rank; i++) {
    const startNs = items.start[i] ?? 0
    const durNs = items.dur[i] ?? 0
    if (startNs >= range.endNs) break
    if (startNs + durNs <= range.startNs) continue
    rows.push({
      key: `${row} ${rank} ${startNs} ${durNs}`,
      rank,
      row,
      what: nameOf(i) ?? STAGES[items.stage[i] ?? -1] ?? '',
      step: items.step[i] ?? 0,
      layer: items.layer[i] ?? -1,
      startNs,
      durNs,
      waitNs: items.wait[i] ?? 0,
      count: items.count[i] ?? 1,
      sources: sourcesOfBits(items.sources[i] ?? 0),
    })
  }
  return rows
}

const eventRow = ({ rank, kind, step, layer, timeNs, count }: EventMark): DrawnRow => ({
  key: `event ${rank} ${kind} ${timeNs}`,
  rank,
  row: 'event',
  what: kindWord(kind),
  step,
  layer,
  startNs: timeNs,
  durNs: 0,
  waitNs: 0,
  count,
  sources: [],
})

/** All that is drawn over `range`: its events, then lane by lane in their order and by start. */
export const drawnRows = (
  pieces: readonly TilePiece[],
  events: readonly EventMark[],
  range: TimeRange,
  order: readonly number[],
): readonly DrawnRow[] => {
  const happened = events
    .filter(({ timeNs }) => timeNs >= range.startNs && timeNs < range.endNs)
    .sort((a, b) => a.timeNs - b.timeNs)
    .map(eventRow)
  const items = order.flatMap((rank) =>
    pieces.flatMap(({ tile, range: part }) => {
      const seen = {
        startNs: Math.max(range.startNs, part.startNs),
        endNs: Math.min(range.endNs, part.endNs),
      }
      const { kernels, kernelNames } = tile
      return [
        ...itemRows(tile.outer, 'graph', rank, seen, () => undefined),
        ...itemRows(tile, 'stage', rank, seen, () => undefined),
        ...itemRows(kernels, 'kernel', rank, seen, (i) => {
          const name = kernelNames[kernels.name[i] ?? -1]
          return name === undefined ? undefined : shortKernelName(name)
        }),
      ]
    }),
  )
  // What reaches over the border of two tiles is in both.
  return [...new Map([...happened, ...items].map((row) => [row.key, row])).values()]
}
