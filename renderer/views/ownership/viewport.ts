/** The part of a token strip that is on screen. Tokens map to pixels by x = (token - start) * scale. */
export interface Viewport {
  /** Token at the left edge, fractional. */
  readonly start: number
  /** Pixels a token. */
  readonly scale: number
}

/** Pixels of one token at the closest zoom: room for an index of a million tokens. */
export const MAX_SCALE = 64

const clamp = (x: number, min: number, max: number): number => Math.min(Math.max(x, min), max)

const fitScale = (len: number, width: number): number => Math.min(MAX_SCALE, width / Math.max(1, len))

/** Shows all `len` tokens in `width` pixels. */
export const fitted = (len: number, width: number): Viewport => ({ start: 0, scale: fitScale(len, width) })

/** The nearest viewport that neither leaves the tokens nor zooms beyond the limits. */
export const clamped = ({ start, scale }: Viewport, len: number, width: number): Viewport => {
  const inside = clamp(scale, fitScale(len, width), MAX_SCALE)
  return { start: clamp(start, 0, Math.max(0, len - width / inside)), scale: inside }
}

export const xOf = (token: number, { start, scale }: Viewport): number => (token - start) * scale

/** Token position under pixel `x`, fractional. */
export const positionAt = (x: number, { start, scale }: Viewport): number => start + x / scale

/** Zooms by `factor` and keeps the token under pixel `x` where it is. */
export const zoomedAt = (view: Viewport, factor: number, x: number, len: number, width: number): Viewport => {
  const scale = clamp(view.scale * factor, fitScale(len, width), MAX_SCALE)
  return clamped({ start: positionAt(x, view) - x / scale, scale }, len, width)
}

/** Moves the window by `pixels` to the right. */
export const panned = (view: Viewport, pixels: number, len: number, width: number): Viewport =>
  clamped({ start: view.start + pixels / view.scale, scale: view.scale }, len, width)

/** Brings `token` into view with the least movement; `closer` also zooms until single tokens can be told. */
export const revealed = (
  view: Viewport,
  token: number,
  len: number,
  width: number,
  closer: boolean,
): Viewport => {
  const scale = closer ? Math.max(view.scale, 12) : view.scale
  const shown = width / scale
  const margin = Math.min(shown / 4, 40 / scale)
  const inView = token >= view.start + margin && token + 1 <= view.start + shown - margin
  if (inView && scale === view.scale) return view
  const start =
    scale !== view.scale
      ? token - shown / 2
      : token < view.start + margin
        ? token - margin
        : token + 1 - shown + margin
  return clamped({ start, scale }, len, width)
}
