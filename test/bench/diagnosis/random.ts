/** Random choices from a seed: the same cases everywhere. */
export interface Random {
  /** In [0, 1). */
  unit(): number
  /** From `least` to `most`, whole. */
  whole(least: number, most: number): number
  /** The same with equal weight to each doubling. */
  logWhole(least: number, most: number): number
  pick<T>(of: readonly T[]): T
  chance(share: number): boolean
}

/** mulberry32. */
export const seeded = (seed: number): Random => {
  let state = seed >>> 0
  const unit = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  const whole = (least: number, most: number): number => least + Math.floor(unit() * (most - least + 1))
  return {
    unit,
    whole,
    logWhole: (least, most) =>
      Math.min(most, Math.floor(Math.exp(Math.log(least) + unit() * (Math.log(most + 1) - Math.log(least))))),
    pick: (of) => {
      const found = of[whole(0, of.length - 1)]
      if (found === undefined) throw new RangeError('there is nothing to pick from')
      return found
    },
    chance: (share) => unit() < share,
  }
}
