import fc from 'fast-check'
import type { EngineConfig } from '../../app/run/engine-config.ts'
import { smallConfig } from './engine.ts'

const KV_TYPES = ['fp32', 'bf16', 'fp8', 'fp8_ds_mla'] as const

/** MLA half of the time, else a number of KV heads that divides the heads. */
const kvHeadsOf = (kvDtype: EngineConfig['kvDtype'], heads: number, drawn: number): number => {
  const divisors = Array.from({ length: heads }, (_, i) => i + 1).filter((n) => heads % n === 0)
  return kvDtype === 'fp8_ds_mla' || drawn % 2 === 0 ? 0 : (divisors[(drawn >> 1) % divisors.length] ?? 1)
}

/** Small runs of any shape; fast-check prints the one that fails, shrunk, and the seed that finds it again. */
export const configs: fc.Arbitrary<EngineConfig> = fc
  .record({
    ranks: fc.integer({ min: 1, max: 16 }),
    headsPerRank: fc.integer({ min: 1, max: 4 }),
    interleave: fc.integer({ min: 1, max: 16 }),
    cycles: fc.integer({ min: 1, max: 5 }),
    qLen: fc.integer({ min: 1, max: 8 }),
    accepted: fc.nat(),
    kvDtype: fc.constantFrom(...KV_TYPES),
    contextLens: fc.array(fc.oneof(fc.integer({ min: 0, max: 20 }), fc.integer({ min: 0, max: 400 })), {
      minLength: 1,
      maxLength: 3,
    }),
    kvHeads: fc.nat(),
    draft: fc.boolean(),
    restarts: fc.boolean(),
    topk: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 500 })),
    comm: fc.constantFrom('ag_rs', 'a2a', 'p2p'),
    wireFp32: fc.boolean(),
    replicateQ: fc.boolean(),
    shuffledPages: fc.boolean(),
    needles: fc.boolean(),
    lseBase: fc.constantFrom('e', '2'),
    emptyRow: fc.constantFrom('neutral', 'unwritten', 'plusInf', 'nan'),
    lseType: fc.constantFrom('fp32', 'bf16'),
    lseLayout: fc.constantFrom('[T,H]', '[B,H,q]', '[H,T]'),
    padding: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 64 })),
    zeroWeight: fc.constantFrom('dropped', 'multiplied'),
    allEmpty: fc.constantFrom('zero', 'nan'),
    seed: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  })
  .map(({ headsPerRank, cycles, accepted, padding, kvHeads, ...c }) =>
    smallConfig({
      ...c,
      heads: c.ranks * headsPerRank,
      kvHeads: kvHeadsOf(c.kvDtype, c.ranks * headsPerRank, kvHeads),
      headDim: 48,
      restarts: c.restarts && c.topk === 0,
      paddedHeads: padding === 0 ? 0 : c.ranks * headsPerRank + padding,
      pageSize: c.interleave * cycles,
      acceptedPerStep: 1 + (accepted % c.qLen),
      kvLoraRank: c.kvDtype === 'fp8_ds_mla' ? 512 : 32,
      ropeDim: c.kvDtype === 'fp8_ds_mla' ? 64 : 16,
      layers: 1,
      steps: 2,
    }),
  )
