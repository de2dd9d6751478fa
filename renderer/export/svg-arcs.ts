export interface Point {
  readonly x: number
  readonly y: number
}

/** A curve of a canvas as the commands of an SVG path that follow its start. */
export interface ArcPath {
  readonly start: Point
  readonly end: Point
  readonly path: string
}

const round = (x: number): number => Math.round(x * 1000) / 1000

const arcCommand = (radius: number, large: boolean, sweep: boolean, { x, y }: Point): string =>
  `A${round(radius)} ${round(radius)} 0 ${large ? 1 : 0} ${sweep ? 1 : 0} ${round(x)} ${round(y)}`

const TURN = 2 * Math.PI

/** The part of a circle that `CanvasRenderingContext2D.arc` draws, angles in radians. */
export const arcPath = (centre: Point, radius: number, from: number, to: number, back: boolean): ArcPath => {
  const on = (angle: number): Point => ({
    x: centre.x + radius * Math.cos(angle),
    y: centre.y + radius * Math.sin(angle),
  })
  const way = back ? from - to : to - from
  const angle = way >= TURN ? TURN : ((way % TURN) + TURN) % TURN
  const [start, end] = [on(from), on(back ? from - angle : from + angle)]
  // SVG draws nothing between a point and itself, so a whole circle is two halves.
  if (angle === TURN) {
    const half = on(from + Math.PI)
    const path = arcCommand(radius, false, !back, half) + arcCommand(radius, false, !back, start)
    return { start, end: start, path }
  }
  return { start, end, path: arcCommand(radius, angle > Math.PI, !back, end) }
}

/** The rounding of the corner `corner` on the way from `from` to `to`, as `CanvasRenderingContext2D.arcTo` draws it. */
export const arcToPath = (from: Point, corner: Point, to: Point, radius: number): ArcPath => {
  const unit = ({ x, y }: Point): Point | null => {
    const length = Math.hypot(x - corner.x, y - corner.y)
    return length === 0 ? null : { x: (x - corner.x) / length, y: (y - corner.y) / length }
  }
  const [before, after] = [unit(from), unit(to)]
  const straight: ArcPath = { start: corner, end: corner, path: '' }
  if (before === null || after === null || radius === 0) return straight
  const cross = before.x * after.y - before.y * after.x
  if (Math.abs(cross) < 1e-9) return straight
  const angle = Math.acos(Math.min(1, Math.max(-1, before.x * after.x + before.y * after.y)))
  const reach = radius / Math.tan(angle / 2)
  const along = ({ x, y }: Point): Point => ({ x: corner.x + x * reach, y: corner.y + y * reach })
  const end = along(after)
  return { start: along(before), end, path: arcCommand(radius, false, cross < 0, end) }
}
