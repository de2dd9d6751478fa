import type { Spot } from './spots.ts'

/** What a step is made of, in the order in which it is drawn. */
export const PARTS = ['attention', 'transfer', 'waiting', 'rest'] as const
export type Part = (typeof PARTS)[number]

export interface Shares {
  /** Milliseconds of a step of the whole model, mean over the ranks. */
  readonly ms: Readonly<Record<Part, number>>
  /** Of the step; together 1. */
  readonly share: Readonly<Record<Part, number>>
}

/**
 * The parts of a step; the rest is what attention and exchange leave of it. Where medians of the parts are more than the median
 * of the step, there is no rest and shares are of their sum. null where the step is not known.
 */
export const sharesOf = (spot: Pick<Spot, 'stepMs' | 'attnMs' | 'commMs' | 'waitMs'>): Shares | null => {
  const { stepMs, attnMs: attention, commMs: transfer, waitMs: waiting } = spot
  const known = attention + transfer + waiting
  const whole = Math.max(stepMs, known)
  if (!(whole > 0)) return null
  const ms = { attention, transfer, waiting, rest: whole - known }
  return {
    ms,
    share: {
      attention: attention / whole,
      transfer: transfer / whole,
      waiting: waiting / whole,
      rest: ms.rest / whole,
    },
  }
}
