import { FIRST_ARRANGEMENT, type LaneArrangement, laneOrder } from './arrangement.ts'

/** Where lanes lie, in CSS pixels. */
export interface Lanes {
  readonly labelWidth: number
  readonly rulerHeight: number
  /** Height of the stages of a rank whose lane is not folded. */
  readonly laneHeight: number
  /** Height of the row of graph replays above the stages, which they contain; 0 where the run replays none. */
  readonly groupHeight: number
  /** Height of the lane of kernels below that of a rank; 0 where the run records none. */
  readonly kernelHeight: number
  readonly laneGap: number
  readonly ranks: number
  /** Pixels by which the lanes that are not pinned are scrolled up. */
  readonly scroll: number
  /** Ranks as their lanes lie, from the top; the pinned ones first. */
  readonly order: readonly number[]
  readonly pinned: ReadonlySet<number>
  /** Ranks of which the stages are a thin line, without kernels. */
  readonly folded: ReadonlySet<number>
  /** Lower end of the pinned lanes: what is scrolled goes below it. */
  readonly pinnedBottom: number
  /** Top of all that belongs to a rank, by rank. */
  readonly tops: readonly number[]
}

const LABEL_WIDTH = 76
/** Heights of the ruler's bands, from the top. */
export const STEP_BAND = 18
export const LAYER_BAND = 14
export const TIME_BAND = 18
const RULER_HEIGHT = STEP_BAND + LAYER_BAND + TIME_BAND
const GAP = 3
const LOWEST = 18
const HIGHEST = 110
const FOLDED = 10
const KERNEL_HEIGHT = 18
const GROUP_HEIGHT = 15
/** Between the rows of one rank. */
const ROW_GAP = 1

/** What of the run has rows of its own, and how its lanes are arranged. */
export interface Rows {
  readonly replays?: boolean
  readonly arrangement?: LaneArrangement
}

/** Lanes share the height that there is, within bounds; more ranks than fit scroll. `kernels`: each with one of kernels. */
export const lanesOf = (
  height: number,
  ranks: number,
  scroll: number,
  kernels = false,
  { replays = false, arrangement = FIRST_ARRANGEMENT }: Rows = {},
): Lanes => {
  const room = Math.max(0, height - RULER_HEIGHT)
  const group = replays ? GROUP_HEIGHT + ROW_GAP : 0
  const below = kernels ? ROW_GAP + KERNEL_HEIGHT : 0
  const order = laneOrder(arrangement, ranks)
  const folded = new Set(arrangement.folded.filter((rank) => rank < ranks))
  const pinned = new Set(arrangement.pinned.filter((rank) => rank < ranks))
  const open = ranks - folded.size
  const fixed = ranks * (group + GAP) + folded.size * FOLDED + open * below
  const laneHeight = Math.min(HIGHEST, Math.max(LOWEST, Math.floor((room - fixed) / Math.max(1, open))))
  const heightOf = (rank: number): number => group + (folded.has(rank) ? FOLDED : laneHeight + below)

  const pinnedHeight = order.reduce((sum, rank) => sum + (pinned.has(rank) ? heightOf(rank) + GAP : 0), 0)
  const pinnedBottom = RULER_HEIGHT + pinnedHeight + (pinned.size > 0 ? ROW_GAP : 0)
  const whole = order.reduce((sum, rank) => sum + heightOf(rank) + GAP, 0)
  const scrolled = Math.min(Math.max(0, scroll), Math.max(0, whole - room))
  const tops = new Array<number>(ranks).fill(0)
  let at = RULER_HEIGHT + GAP
  for (const rank of order) {
    tops[rank] = pinned.has(rank) ? at : at - scrolled
    at += heightOf(rank) + GAP
  }
  return {
    labelWidth: LABEL_WIDTH,
    rulerHeight: RULER_HEIGHT,
    laneHeight,
    groupHeight: replays ? GROUP_HEIGHT : 0,
    kernelHeight: kernels ? KERNEL_HEIGHT : 0,
    laneGap: GAP,
    ranks,
    scroll: scrolled,
    order,
    pinned,
    folded,
    pinnedBottom,
    tops,
  }
}

/** Top of all that belongs to a rank. */
export const rankTop = (rank: number, { tops }: Lanes): number => tops[rank] ?? 0

/** Top of the row of a rank's graph replays. */
export const groupTop = rankTop

/** Top of the stages of a rank. */
export const laneTop = (rank: number, lanes: Lanes): number =>
  rankTop(rank, lanes) + (lanes.groupHeight > 0 ? lanes.groupHeight + ROW_GAP : 0)

/** Height of the stages of a rank. */
export const stagesHeight = (rank: number, { folded, laneHeight }: Lanes): number =>
  folded.has(rank) ? FOLDED : laneHeight

/** Height of the lane of a rank's kernels; 0 where it has none. */
export const kernelsHeight = (rank: number, { folded, kernelHeight }: Lanes): number =>
  folded.has(rank) ? 0 : kernelHeight

/** Top of the lane of a rank's kernels. */
export const kernelTop = (rank: number, lanes: Lanes): number =>
  laneTop(rank, lanes) + stagesHeight(rank, lanes) + ROW_GAP

/** Where a rank's rows end. */
export const laneBottom = (rank: number, lanes: Lanes): number => {
  const kernels = kernelsHeight(rank, lanes)
  return laneTop(rank, lanes) + stagesHeight(rank, lanes) + (kernels > 0 ? ROW_GAP + kernels : 0)
}

/** What lies above this belongs to the ruler, or to pinned lanes that the rank is scrolled below. */
export const clipTop = (rank: number, { pinned, rulerHeight, pinnedBottom }: Lanes): number =>
  pinned.has(rank) ? rulerHeight : pinnedBottom

export const isOnKernels = (y: number, rank: number, lanes: Lanes): boolean =>
  kernelsHeight(rank, lanes) > 0 && y >= kernelTop(rank, lanes)

export const isOnGroups = (y: number, rank: number, lanes: Lanes): boolean =>
  lanes.groupHeight > 0 && y < laneTop(rank, lanes)

/** The scroll at which the rows of `rank` are wholly seen, changed only as far as needed. */
export const scrollToLane = (rank: number, lanes: Lanes, height: number): number => {
  if (lanes.pinned.has(rank)) return lanes.scroll
  const above = lanes.pinnedBottom + lanes.laneGap - rankTop(rank, lanes)
  const below = laneBottom(rank, lanes) - height
  return above > 0 ? lanes.scroll - above : below > 0 ? lanes.scroll + below : lanes.scroll
}

/** Rank under `y`, or null on the ruler, between lanes and below them. */
export const rankAtY = (y: number, lanes: Lanes): number | null =>
  y < lanes.rulerHeight
    ? null
    : (lanes.order.find(
        (rank) => y >= clipTop(rank, lanes) && y >= rankTop(rank, lanes) && y <= laneBottom(rank, lanes),
      ) ?? null)

/** Place in the order of the lane that is nearest to `y`. */
export const slotAtY = (y: number, lanes: Lanes): number => {
  const below = lanes.order.findIndex((rank) => laneBottom(rank, lanes) >= y)
  return below < 0 ? lanes.order.length - 1 : below
}
