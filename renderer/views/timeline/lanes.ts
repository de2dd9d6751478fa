/** Where lanes lie, in CSS pixels. */
export interface Lanes {
  readonly labelWidth: number
  readonly rulerHeight: number
  readonly laneHeight: number
  readonly laneGap: number
  readonly ranks: number
  /** Pixels by which the lanes are scrolled up. */
  readonly scroll: number
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

/** Lanes share the height that there is, within bounds; more ranks than fit scroll. */
export const lanesOf = (height: number, ranks: number, scroll: number): Lanes => {
  const room = Math.max(0, height - RULER_HEIGHT)
  const laneHeight = Math.min(HIGHEST, Math.max(LOWEST, Math.floor(room / Math.max(1, ranks)) - GAP))
  const most = Math.max(0, ranks * (laneHeight + GAP) - room)
  return {
    labelWidth: LABEL_WIDTH,
    rulerHeight: RULER_HEIGHT,
    laneHeight,
    laneGap: GAP,
    ranks,
    scroll: Math.min(Math.max(0, scroll), most),
  }
}

export const laneTop = (rank: number, lanes: Lanes): number =>
  lanes.rulerHeight + lanes.laneGap + rank * (lanes.laneHeight + lanes.laneGap) - lanes.scroll

/** Height of the track along the top of a lane for spans that contain others. */
export const outerTrack = ({ laneHeight }: Lanes): number => (laneHeight >= 24 ? 5 : 3)

export const isOnOuterTrack = (y: number, rank: number, lanes: Lanes): boolean =>
  y - laneTop(rank, lanes) < outerTrack(lanes)

/** The scroll at which the lane of `rank` is wholly seen, changed only as far as needed. */
export const scrollToLane = (rank: number, lanes: Lanes, height: number): number => {
  const top = laneTop(rank, lanes)
  const above = lanes.rulerHeight + lanes.laneGap - top
  const below = top + lanes.laneHeight - height
  return above > 0 ? lanes.scroll - above : below > 0 ? lanes.scroll + below : lanes.scroll
}

/** Rank under `y`, or null on the ruler, between lanes and below them. */
export const rankAtY = (y: number, lanes: Lanes): number | null => {
  if (y < lanes.rulerHeight) return null
  const pitch = lanes.laneHeight + lanes.laneGap
  const rank = Math.floor((y - lanes.rulerHeight - lanes.laneGap + lanes.scroll) / pitch)
  if (rank < 0 || rank >= lanes.ranks) return null
  return y - laneTop(rank, lanes) <= lanes.laneHeight ? rank : null
}
