/** 1, 2 or 5 times a power of ten: the least such number that is at least `x` (and at least 1). */
export const niceStep = (x: number): number => {
  if (x <= 1) return 1
  const power = 10 ** Math.floor(Math.log10(x))
  const factor = [1, 2, 5, 10].find((f) => f * power >= x * (1 - 1e-12)) ?? 10
  return factor * power
}

/** Multiples of a nice step in [from, to), at least `minPixels` apart at `scale` pixels a unit. */
export const ticksOf = (from: number, to: number, scale: number, minPixels: number): number[] => {
  const step = niceStep(minPixels / scale)
  const ticks: number[] = []
  for (let tick = Math.ceil(from / step) * step; tick < to; tick += step) ticks.push(tick)
  return ticks
}
