import type { TimeRange } from './range.ts'
import type { Area } from './scene.ts'

/** The part of time and the ranks that statistics are of, and why. */
export interface Scope extends Area {
  readonly of: 'area' | 'step' | 'run'
}

/** The marked area, else the selected step, else the whole run; of all ranks where nothing is marked. */
export const scopeOf = (
  area: Area | null,
  step: TimeRange | null,
  whole: TimeRange,
  ranks: number,
): Scope => {
  if (area !== null) return { ...area, of: 'area' }
  const all = Array.from({ length: ranks }, (_, rank) => rank)
  return step === null ? { range: whole, ranks: all, of: 'run' } : { range: step, ranks: all, of: 'step' }
}

/** `3`, `0 – 3`, `0, 2, 5`: ranks for a sentence, many of them shortened. */
export const ranksText = (ranks: readonly number[]): string => {
  const sorted = [...ranks].sort((a, b) => a - b)
  const [first = 0, last = 0] = [sorted[0], sorted.at(-1)]
  if (sorted.length > 2 && last - first === sorted.length - 1) return `${first}\u2009–\u2009${last}`
  return sorted.length <= 6 ? sorted.join(', ') : `${sorted.slice(0, 6).join(', ')} …`
}
