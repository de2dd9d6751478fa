import { finalLength, type SweepPoint } from './expand.ts'
import { arrangementName } from './spots.ts'
import type { Arrangement } from './summary.ts'

/** What the KV pools of a DCP group hold, by arrangement. */

/** Requests of one context that the pools hold at once; 0: not even one. */
export interface Held {
  readonly context: number
  readonly requests: number
}

export interface Pool {
  /** Name of the arrangement. */
  readonly name: string
  /** Tokens of all ranks of a DCP group together. */
  readonly tokens: number
  /** By context, rising. */
  readonly held: readonly Held[]
}

/** By arrangement, in their order; those without a point have no pool that is known. */
export const poolsOf = (
  arrangements: readonly Arrangement[],
  points: readonly SweepPoint[],
  contexts: readonly number[],
): Pool[] =>
  arrangements.flatMap((arrangement): Pool[] => {
    const name = arrangementName(arrangement)
    const own = points.filter((point) => arrangementName(point) === name)
    const [first] = own
    if (first === undefined) return []
    const requestsAt = (context: number): number =>
      Math.floor(first.capacityTokens / finalLength(first.run, { context, qLen: first.qLen }))
    return [
      {
        name,
        tokens: first.capacityTokens,
        held: contexts.map((context) => ({ context, requests: requestsAt(context) })),
      },
    ]
  })
