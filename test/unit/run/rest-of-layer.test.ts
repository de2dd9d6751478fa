import { describe, expect, it } from 'vitest'
import { engineConfig } from '../../../app/run/engine-config.ts'
import { issueText, parseRunConfig } from '../../../app/run/parse.ts'
import { distinctExperts, type RestOfLayer, restOfLayer } from '../../../app/run/rest-of-layer.ts'

const rest = (input: unknown): RestOfLayer => {
  const parsed = parseRunConfig(input)
  if (!parsed.ok) throw new Error(parsed.issues.map(issueText).join('; '))
  return restOfLayer(parsed.config)
}

const one = { requests: [{ contextLen: 100 }] }

describe('the rest of a layer', () => {
  it('is off, or the bytes that are given', () => {
    expect(rest({})).toEqual({ bytes: 0, flops: 0 })
    expect(rest({ engine: { restOfLayer: 12345 } })).toEqual({ bytes: 12345, flops: 0 })
  })

  it('is what one token touches of DeepSeek-V2-Lite, in whole numbers by hand', () => {
    const { bytes, flops } = rest({
      model: { preset: 'deepseek-v2-lite' },
      parallel: { tpSize: 1, dcpSize: 1 },
      workload: one,
      engine: { restOfLayer: 'model' },
    })
    // q 2048*16*192, kv_a 2048*576, kv_b 512*16*256, o 16*128*2048.
    const attention = 6_291_456 + 1_179_648 + 2_097_152 + 4_194_304
    // One dense MLP of 3*2048*10944; 26 layers of 2 shared and 6 routed experts of 3*2048*1408, and a router 64*2048.
    const dense = 67_239_936
    const experts = 8 * 8_650_752
    const router = 131_072
    expect(bytes).toBe(Math.round(2 * (attention + (dense + 26 * (experts + router)) / 27)))
    expect(flops).toBe(Math.round(2 * (attention + (dense + 26 * (experts + router)) / 27)))
  })

  it('divides heads and intermediate widths of DeepSeek-V3 over the TP group, but not what every rank keeps', () => {
    const { bytes, flops } = rest({
      model: { preset: 'deepseek-v3' },
      parallel: { tpSize: 8, dcpSize: 8 },
      workload: { requests: [{ contextLen: 100, count: 32 }], qLen: 2 },
      engine: { restOfLayer: 'model' },
    })
    // Each rank: q_a 7168*1536 and kv_a 7168*576; of 16 heads q_b 1536*192, kv_b 512*256, o 128*7168.
    const attention = 11_010_048 + 4_128_768 + 16 * (294_912 + 131_072 + 917_504)
    // An eighth of 3*7168*18432 and of 3*7168*2048.
    const dense = 49_545_216
    const expert = 5_505_024
    const router = 1_835_008
    // 256 * (1 - (248/256)^64): 64 tokens meet 222.44 of the 256 experts.
    const met = 222.4424876855104
    const read = attention + (3 * dense + 58 * (expert * (1 + met) + 2 * router)) / 61
    expect(bytes / read).toBeCloseTo(1, 6)
    const used = attention + (3 * dense + 58 * (expert * 9 + router)) / 61
    expect(flops).toBe(Math.round(2 * 64 * used))
  })

  it('lets a rank that replicates Q project the queries of its whole group', () => {
    const config = (replicateQ: boolean): unknown => ({
      model: { preset: 'kimi-k2' },
      parallel: { tpSize: 16, dcpSize: 4, replicateQ },
      workload: one,
      engine: { restOfLayer: 'model' },
    })
    // 12 heads more of q_b 1536*192 and of the 128*512 into the latent space.
    expect(rest(config(true)).bytes - rest(config(false)).bytes).toBe(12 * (294_912 + 65_536))
  })

  it('has all experts for many tokens and the chosen ones for one', () => {
    expect(distinctExperts(256, 8, 1)).toBeCloseTo(8, 9)
    expect(distinctExperts(384, 8, 2)).toBeCloseTo(16 - 64 / 384, 9)
    expect(distinctExperts(64, 6, 4096)).toBeCloseTo(64, 9)
  })

  it('reaches the engine as two whole numbers', () => {
    const parsed = parseRunConfig({ engine: { restOfLayer: 'model' } }, 'deepseek-v3')
    if (!parsed.ok) throw new Error('refused')
    const native = engineConfig(parsed.config)
    expect(Number.isSafeInteger(native.restOfLayerBytes) && native.restOfLayerBytes > 1e7).toBe(true)
    expect(Number.isSafeInteger(native.restOfLayerFlops) && native.restOfLayerFlops > 1e7).toBe(true)
  })
})
