import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isOther, measureOffset, uncertaintyOf } from '../../../main/ranks/align.ts'

/** A clock `offset` ahead of one that only moves by the ways of messages, there and back. */
const worldOf = (offset: bigint, ways: readonly (readonly [number, number])[]) => {
  let time = 1000n
  let i = 0
  const read = async (): Promise<bigint> => {
    const [there = 0, back = 0] = ways[i++ % ways.length] ?? []
    time += BigInt(there)
    const seen = time + offset
    time += BigInt(back)
    return seen
  }
  return { read, now: () => time, rounds: ways.length }
}

const ways = fc.array(fc.tuple(fc.nat({ max: 1_000_000 }), fc.nat({ max: 1_000_000 })), {
  minLength: 1,
  maxLength: 100,
})

describe('the clock of another machine', () => {
  it('is known within the error that is said, whatever the ways of the messages', async () => {
    await fc.assert(
      fc.asyncProperty(fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n }), ways, async (offset, all) => {
        const { read, now, rounds } = worldOf(offset, all)
        const found = await measureOffset(read, now, rounds)
        expect(Math.abs(Number(found.offsetNs - offset))).toBeLessThanOrEqual(found.errorNs + 1)
        expect(found.errorNs).toBe(Math.min(...all.map(([there, back]) => (there + back) / 2)))
      }),
    )
  })

  it('is the same clock where the reading lies between question and answer', async () => {
    for (const [offset, other] of [
      [0n, false],
      [5000n, true],
    ] as const) {
      const { read, now } = worldOf(offset, [[900, 10]])
      expect(isOther(await measureOffset(read, now, 1))).toBe(other)
    }
  })

  it('is as certain as the worse of two readings and what it drifted between them', () => {
    const at = (offsetNs: bigint, errorNs: number) => ({ offsetNs, errorNs })
    expect(uncertaintyOf(at(100n, 50), at(100n, 20))).toBe(50)
    expect(uncertaintyOf(at(100n, 50), at(-900n, 20.5))).toBe(1021)
  })
})
