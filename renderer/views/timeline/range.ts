/** The part of the run's clock that is shown, ns. */
export interface TimeRange {
  readonly startNs: number
  readonly endNs: number
}

/** The closest look: a pixel is then a few picoseconds to nanoseconds. */
export const MIN_SPAN_NS = 100

const spanOf = (range: TimeRange): number => range.endNs - range.startNs

/** Keeps `range` within `whole`, at least MIN_SPAN_NS long. */
export const clampedRange = (range: TimeRange, whole: TimeRange): TimeRange => {
  const limit = Math.max(MIN_SPAN_NS, spanOf(whole))
  const span = Math.min(limit, Math.max(MIN_SPAN_NS, spanOf(range)))
  const startNs = Math.min(Math.max(range.startNs, whole.startNs), whole.startNs + limit - span)
  return { startNs, endNs: startNs + span }
}

/** Shows `1 / factor` of the time, the time at `at` (0 left edge, 1 right edge) stays where it is. */
export const zoomedRange = (range: TimeRange, factor: number, at: number, whole: TimeRange): TimeRange => {
  const limit = Math.max(MIN_SPAN_NS, spanOf(whole))
  const span = Math.min(limit, Math.max(MIN_SPAN_NS, spanOf(range) / factor))
  const fixed = range.startNs + spanOf(range) * at
  const startNs = fixed - span * at
  return clampedRange({ startNs, endNs: startNs + span }, whole)
}

/** Moves by a share of what is shown, positive to later times. */
export const pannedRange = (range: TimeRange, share: number, whole: TimeRange): TimeRange => {
  const by = spanOf(range) * share
  return clampedRange({ startNs: range.startNs + by, endNs: range.endNs + by }, whole)
}

/** Brings [startNs, endNs) into view: moves only as far as needed, zooms out only when it does not fit. */
export const revealedRange = (range: TimeRange, part: TimeRange, whole: TimeRange): TimeRange => {
  if (part.startNs >= range.startNs && part.endNs <= range.endNs) return range
  const needed = spanOf(part) * 1.2
  const span = Math.max(spanOf(range), needed)
  const middle = (part.startNs + part.endNs) / 2
  return clampedRange({ startNs: middle - span / 2, endNs: middle + span / 2 }, whole)
}

/** Pixels between `ns` and the left edge of a plot `width` pixels wide. */
export const xOfTime = (ns: number, range: TimeRange, width: number): number =>
  ((ns - range.startNs) / spanOf(range)) * width

export const timeAtX = (x: number, range: TimeRange, width: number): number =>
  range.startNs + (x / Math.max(1, width)) * spanOf(range)

/** More than the part, by a share of its length on either side: by default so much that its edges are seen. */
export const withMargin = ({ startNs, endNs }: TimeRange, share = 0.1): TimeRange => {
  const margin = (endNs - startNs) * share
  return { startNs: startNs - margin, endNs: endNs + margin }
}
