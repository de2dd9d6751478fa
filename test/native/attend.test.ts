import { describe, expect, it } from 'vitest'
import type { AttendTask } from '../../app/diagnosis/reference.ts'
import { attendPlainly } from '../unit/diagnosis/plain-reference.ts'
import { addon, at, codeOf } from './engine.ts'

/** Numbers that repeat late and look random. */
const noise = (count: number, seed: number): Float64Array =>
  Float64Array.from({ length: count }, (_, i) => Math.sin(12.9898 * (i + 1) + 78.233 * seed) * 2)

interface Shape {
  readonly heads: number
  readonly keyDim: number
  readonly valueDim: number
  readonly segments: readonly number[]
  readonly kvHeads?: number
}

const taskOf = ({ heads, keyDim, valueDim, segments, kvHeads }: Shape): AttendTask => {
  const tokens = segments.at(-1) ?? 0
  const n = kvHeads ?? 1
  return {
    q: noise(heads * keyDim, 1),
    heads,
    keyDim,
    valueDim,
    keys: noise(tokens * n * keyDim, 2),
    ...(kvHeads === undefined ? {} : { values: noise(tokens * n * valueDim, 3) }),
    kvHeadOf: Int32Array.from({ length: heads }, (_, head) => head % n),
    kvHeads: n,
    scale: 0.2,
    segments: Int32Array.from(segments),
  }
}

const SHAPES: readonly Shape[] = [
  { heads: 1, keyDim: 3, valueDim: 2, segments: [1] },
  { heads: 5, keyDim: 48, valueDim: 32, segments: [0, 7, 7, 40] },
  { heads: 33, keyDim: 576, valueDim: 512, segments: [100, 900, 1500] },
  { heads: 12, keyDim: 40, valueDim: 24, segments: [33, 70], kvHeads: 4 },
  { heads: 4, keyDim: 16, valueDim: 16, segments: [] },
]

describe('attention in fp64 over given rows', () => {
  it.each(SHAPES)('is that of plain loops, segment by segment: $heads heads, $segments', async (shape) => {
    const task = taskOf(shape)
    const { out, lse } = await addon.attend(task)
    const plain = attendPlainly(task)
    expect([out.length, lse.length]).toEqual([plain.out.length, plain.lse.length])
    lse.forEach((value, i) => {
      if (Number.isFinite(value)) expect(value).toBeCloseTo(at(plain.lse, i), 11)
      else expect(value).toBe(at(plain.lse, i))
    })
    const worst = out.reduce((most, value, i) => Math.max(most, Math.abs(value - at(plain.out, i))), 0)
    expect(worst).toBeLessThan(1e-12)
  })

  it('gives (0, -inf) for a segment without keys', async () => {
    const { out, lse } = await addon.attend(taskOf({ heads: 2, keyDim: 8, valueDim: 8, segments: [0, 3] }))
    expect([...lse.subarray(0, 2)]).toEqual([Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY])
    expect([...out.subarray(0, 16)]).toEqual(Array(16).fill(0))
    expect(Number.isFinite(at(lse, 2))).toBe(true)
  })

  it.each([
    ['q', { q: new Float64Array(3) }],
    ['keys', { keys: new Float64Array(3) }],
    ['segments', { segments: Int32Array.of(5, 3, 7) }],
    ['kvHeadOf', { kvHeadOf: Int32Array.of(0, 1) }],
    ['heads', { heads: 0 }],
    ['values', { values: new Float64Array(5) }],
  ])('refuses a contradicting %s by name', async (field, wrong) => {
    const task = { ...taskOf({ heads: 2, keyDim: 8, valueDim: 8, segments: [3, 7] }), ...wrong }
    const refused = await (async () => addon.attend(task))().catch((error: unknown) => error)
    expect(codeOf(refused)).toBe('ERR_CONFIG')
    expect(String(refused)).toContain(field)
  })
})
