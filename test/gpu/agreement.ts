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
export const EXACT = [
  'seq_lens_global',
  'seq_lens_local',
  'block_table',
  'slot_mapping',
  'page_ids',
  'kv',
  'q',
]
const SPARSE = ['topk', 'topk_slots']

/** Vectors of `width` values beside each other, with the largest relative difference of one. */
const worstVector = (
  a: Float64Array,
  b: Float64Array,
  width: number,
  empty: (row: number) => boolean,
): number => {
  let largest = 0
  for (let row = 0; row < a.length / width; row++) {
    if (empty(row)) continue
    const from = row * width
    const { relative } = vectorError(a.subarray(from, from + width), b.subarray(from, from + width))
    if (!(relative <= largest)) largest = relative
  }
  return largest
}

export const expectAgreement = (cuda: Captured, cpu: Captured, config: EngineConfig): void => {
  for (let rank = 0; rank < config.ranks; rank++) {
    const [own, other] = [captureOf(cuda, rank), captureOf(cpu, rank)]
    for (const name of config.topk > 0 ? [...EXACT, ...SPARSE] : EXACT)
      expect(bytesOf(own, name).equals(bytesOf(other, name)), `${name} of rank ${rank}`).toBe(true)
    const [lse, otherLse] = [valuesOf(own, 'lse'), valuesOf(other, 'lse')]
    otherLse.forEach((expected, i) => {
      if (Number.isFinite(expected)) expect(Math.abs(at(lse, i) - expected)).toBeLessThan(2e-4)
      else expect(at(lse, i)).toBe(expected)
    })
    const empty = (row: number): boolean => !Number.isFinite(at(otherLse, row))
    const V = config.kvLoraRank
    const out = worstVector(valuesOf(own, 'out'), valuesOf(other, 'out'), V, empty)
    const merged = worstVector(valuesOf(own, 'merged'), valuesOf(other, 'merged'), V, () => false)
    expect(out, `partials of rank ${rank}`).toBeLessThan(5e-3)
    expect(merged, `merged output of rank ${rank}`).toBeLessThan(1e-2)
  }
}

/** Columns of the query rows that do not depend on rounding. */
export const countsOf = (run: Finished, rank: number): unknown[] =>
  rowsOf(run.chunks, 'rows', rank).map((row) =>
    ['step', 'layer', 'request', 'q_index', 'global_len', 'local_len', 'visible_keys'].map(
      (name) => row[name],
    ),
  )
