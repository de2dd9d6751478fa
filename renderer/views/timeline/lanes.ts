/** Where lanes lie, in CSS pixels. */
export interface Lanes {
  readonly labelWidth: number
  readonly rulerHeight: number
  readonly laneHeight: number
  /** Height of the lane of kernels below that of a rank; 0 where the run records none. */
  readonly kernelHeight: number
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
const KERNEL_HEIGHT = 18
const KERNEL_GAP = 1

/** Lanes share the height that there is, within bounds; more ranks than fit scroll. `kernels`: each with one of kernels. */
export const lanesOf = (height: number, ranks: number, scroll: number, kernels = false): Lanes => {
  const room = Math.max(0, height - RULER_HEIGHT)
  const below = kernels ? KERNEL_GAP + KERNEL_HEIGHT : 0
  const share = Math.floor(room / Math.max(1, ranks)) - GAP - below
  const laneHeight = Math.min(HIGHEST, Math.max(LOWEST, share))
  const most = Math.max(0, ranks * (laneHeight + below + GAP) - room)
  return {
    labelWidth: LABEL_WIDTH,
    rulerHeight: RULER_HEIGHT,
    laneHeight,
    kernelHeight: kernels ? KERNEL_HEIGHT : 0,
    laneGap: GAP,
    ranks,
    scroll: Math.min(Math.max(0, scroll), most),
  }
}

/** Height of a rank's lane together with that of its kernels. */
const fullHeight = ({ laneHeight, kernelHeight }: Lanes): number =>
  laneHeight + (kernelHeight > 0 ? KERNEL_GAP + kernelHeight : 0)

export const laneTop = (rank: number, lanes: Lanes): number =>
  lanes.rulerHeight + lanes.laneGap + rank * (fullHeight(lanes) + lanes.laneGap) - lanes.scroll

/** Where a rank's lane ends, with that of its kernels. */
export const laneBottom = (rank: number, lanes: Lanes): number => laneTop(rank, lanes) + fullHeight(lanes)

/** Top of the lane of a rank's kernels. */
export const kernelTop = (rank: number, lanes: Lanes): number =>
  laneTop(rank, lanes) + lanes.laneHeight + KERNEL_GAP

export const isOnKernels = (y: number, rank: number, lanes: Lanes): boolean =>
  lanes.kernelHeight > 0 && y >= kernelTop(rank, lanes)

/** Height of the track along the top of a lane for spans that contain others. */
export const outerTrack = ({ laneHeight }: Lanes): number => (laneHeight >= 24 ? 5 : 3)

export const isOnOuterTrack = (y: number, rank: number, lanes: Lanes): boolean =>
  y - laneTop(rank, lanes) < outerTrack(lanes)

/** The scroll at which the lane of `rank` is wholly seen, changed only as far as needed. */
export const scrollToLane = (rank: number, lanes: Lanes, height: number): number => {
  const top = laneTop(rank, lanes)
  const above = lanes.rulerHeight + lanes.laneGap - top
  const below = top + fullHeight(lanes) - height
  return above > 0 ? lanes.scroll - above : below > 0 ? lanes.scroll + below : lanes.scroll
}

/** Rank under `y`, or null on the ruler, between lanes and below them. */
export const rankAtY = (y: number, lanes: Lanes): number | null => {
  if (y < lanes.rulerHeight) return null
  const pitch = fullHeight(lanes) + lanes.laneGap
  const rank = Math.floor((y - lanes.rulerHeight - lanes.laneGap + lanes.scroll) / pitch)
  if (rank < 0 || rank >= lanes.ranks) return null
  return y - laneTop(rank, lanes) <= fullHeight(lanes) ? rank : null
}
