import { expect } from 'vitest'
import { vectorError } from '../../app/lse/error.ts'
import type { EngineConfig } from '../../app/run/engine-config.ts'
import type { NativeCapture } from '../../main/engine/addon.ts'
import { at, captureOf, type Finished, rowsOf, tensorOf, valuesOf } from '../native/engine.ts'

/** In what runs of one configuration on two devices, or by other ranks, must agree. */

type Captured = Pick<Finished, 'captures'>

export const bytesOf = (capture: NativeCapture, name: string): Buffer =>
  Buffer.from(tensorOf(capture, name).data)

/** What two devices must agree on to the bit: who holds what, and the values before attention. */
export const exactOf = ({ topk, kvHeads }: EngineConfig): readonly string[] => [
  'seq_lens_global',
  'seq_lens_local',
  'block_table',
  'slot_mapping',
  'page_ids',
  ...(kvHeads > 0 ? ['kv_k', 'kv_v'] : ['kv']),
  'q',
  ...(topk > 0 ? ['topk', 'topk_slots'] : []),
]

/** Values of a row of a partial. */
export const valueWidth = ({ kvHeads, headDim, kvLoraRank }: EngineConfig): number =>
  kvHeads > 0 ? headDim : kvLoraRank

/** Vectors of `width` values beside each other, with the largest relative difference of one. */
const worstVector = (
  a: Float64Array,
  b: Float64Array,
  width: number,
  leftOut: (row: number) => boolean,
): number => {
  let largest = 0
  for (let row = 0; row < a.length / width; row++) {
    if (leftOut(row)) continue
    const from = row * width
    const { relative } = vectorError(a.subarray(from, from + width), b.subarray(from, from + width))
    if (!(relative <= largest)) largest = relative
  }
  return largest
}

/** Errors of lse on two devices before it is rounded, and with the step of a bf16 that may lie between them. */
const LSE = 2e-4
const BF16_STEP = 2 ** -7
/** Largest share of an lse in bf16 that the two may round apart. */
const ROUNDED_APART = 0.05
/** What a step of its lse changes in a row. */
const STEP_OF_WEIGHT = 0.15

/** Rows of [T, H] whose lse is the same to two devices on all ranks, but for the error of fp32. */
const expectLse = (cuda: Captured, cpu: Captured, config: EngineConfig): ReadonlySet<number> => {
  const bf16 = config.lseType === 'bf16'
  const apart = new Set<number>()
  for (let rank = 0; rank < config.ranks; rank++) {
    const own = valuesOf(captureOf(cuda, rank), 'lse')
    valuesOf(captureOf(cpu, rank), 'lse').forEach((expected, i) => {
      const value = at(own, i)
      const off = Object.is(value, expected) ? 0 : Math.abs(value - expected)
      expect(off).toBeLessThan(LSE + (bf16 && off > 0 ? BF16_STEP * Math.abs(expected) : 0))
      if (off >= LSE) apart.add(i)
    })
  }
  const rows = valuesOf(captureOf(cpu, 0), 'lse').length
  expect(apart.size).toBeLessThanOrEqual(ROUNDED_APART * config.ranks * rows)
  return apart
}

export const expectAgreement = (cuda: Captured, cpu: Captured, config: EngineConfig): void => {
  const { heads, ranks } = config
  const width = valueWidth(config)
  const perRank = heads / ranks
  const apart = expectLse(cuda, cpu, config)
  for (let rank = 0; rank < ranks; rank++) {
    const [own, other] = [captureOf(cuda, rank), captureOf(cpu, rank)]
    for (const name of exactOf(config))
      expect(bytesOf(own, name).equals(bytesOf(other, name)), `${name} of rank ${rank}`).toBe(true)
    const otherLse = valuesOf(other, 'lse')
    const worst = (name: string, leftOut: (row: number) => boolean): number =>
      worstVector(valuesOf(own, name), valuesOf(other, name), width, leftOut)
    const isApart = (row: number): boolean =>
      apart.has(Math.floor(row / perRank) * heads + rank * perRank + (row % perRank))
    const out = worst('out', (row) => !Number.isFinite(at(otherLse, row)))
    expect(out, `partials of rank ${rank}`).toBeLessThan(5e-3)
    expect(worst('merged', isApart), `merged output of rank ${rank}`).toBeLessThan(1e-2)
    expect(
      worst('merged', () => false),
      `merged output of rank ${rank}`,
    ).toBeLessThan(apart.size > 0 ? STEP_OF_WEIGHT : 1e-2)
  }
}

/** Columns of the query rows that do not depend on rounding. */
export const countsOf = (run: Finished, rank: number): unknown[] =>
  rowsOf(run.chunks, 'rows', rank).map((row) =>
    ['step', 'layer', 'request', 'q_index', 'global_len', 'local_len', 'visible_keys'].map(
      (name) => row[name],
    ),
  )
