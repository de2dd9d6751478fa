import { describe, expect, it } from 'vitest'
import { RULES } from '../../../app/backends/guard.ts'
import { BACKEND_NAMES, PROFILES } from '../../../app/backends/index.ts'
import { judge, reasonOf } from './judge.ts'

const MLA_MODEL = { model: { kvHeads: null, headDim: null } }
const NO_DCP = { parallel: { dcpSize: 1 } }
const bf16 = { cache: { kvDtype: 'bf16' } }
const with1 = (over: object) => ({ ...over, ...NO_DCP })

/** Verdict of a rule for a change of what the back-end accepts; null: the rule has nothing to say. */
type Case = readonly [backend: string, over: object, verdict: 'accepted' | 'refused' | 'fallback' | null]

const CASES: Readonly<Record<string, readonly Case[]>> = {
  'q-len': [
    ['sglang-trtllm-mla', {}, null],
    ['sglang-trtllm-mla', { workload: { qLen: 2 } }, 'refused'],
    ['sglang-trtllm-mla', with1({ workload: { qLen: 8 } }), null],
    ['sglang-cutedsl-mla', { workload: { qLen: 8 } }, null],
    ['sglang-tokenspeed-mla', { workload: { qLen: 4 } }, null],
    ['vllm-tokenspeed-mla', { workload: { qLen: 8 } }, null],
    ['vllm-tokenspeed-mla', { serving: { queryLens: [1, 2] } }, 'fallback'],
    ['vllm-tokenspeed-mla', { serving: { queryLens: [2, 2, 2] } }, null],
    ['vllm-flashinfer-mla', { workload: { qLen: 4 } }, null],
    ['vllm-flashinfer-mla-legacy', { workload: { qLen: 4 } }, 'accepted'],
    ['vllm-flashmla-sparse', { workload: { qLen: 4 } }, null],
    ['vllm-flashmla-sparse', { workload: { qLen: 4 }, parallel: { interleave: 16 } }, 'refused'],
    ['trtllm-helix', { workload: { qLen: 4 } }, 'accepted'],
    ['native', { workload: { qLen: 8 } }, null],
    ['native', { serving: { queryLens: [1, 2] } }, 'refused'],
  ],
  'causal-bound': [
    ['sglang-trtllm-mla', {}, null],
    ['sglang-trtllm-mla', { serving: { causalBound: 'global' } }, 'refused'],
    ['sglang-trtllm-mla', with1({ serving: { causalBound: 'global' } }), null],
    ['sglang-cutedsl-mla', { serving: { causalBound: 'global' } }, null],
    ['sglang-cutedsl-mla', { serving: { causalBound: 'local' } }, 'refused'],
    ['vllm-flashinfer-mla', { serving: { causalBound: 'local' } }, 'refused'],
    ['vllm-flashinfer-mla', with1({ serving: { causalBound: 'local' } }), null],
  ],
  'return-lse': [
    ['sglang-trtllm-mla', { serving: { returnLse: true } }, null],
    ['sglang-trtllm-mla', { serving: { returnLse: false } }, 'refused'],
    ['sglang-trtllm-mla', with1({ serving: { returnLse: false } }), null],
    ['sglang-cutedsl-mla', NO_DCP, 'accepted'],
    ['sglang-cutedsl-mla', { serving: { returnLse: false } }, 'refused'],
    ['vllm-flashinfer-mla', { serving: { returnLse: false } }, 'refused'],
    ['native', { serving: { returnLse: false } }, 'refused'],
    ['vllm-flashmla', { serving: { returnLse: false } }, 'refused'],
    ['vllm-flashmla', with1({ serving: { returnLse: false } }), null],
    ['trtllm-helix', { serving: { returnLse: false } }, 'refused'],
  ],
  'lse-not-returned': [
    ['vllm-flashinfer-gqa', {}, null],
    ['vllm-flashinfer-gqa', { serving: { kernel: 'xqa' } }, 'fallback'],
    ['vllm-flashinfer-gqa', with1({ serving: { kernel: 'xqa' } }), null],
    ['vllm-flashmla-sparse', { serving: { versions: { vllm: '0.26.0' } } }, 'refused'],
    ['vllm-flashmla-sparse', { serving: { versions: { vllm: '0.28.0' } } }, null],
  ],
  interleave: [
    ['sglang-trtllm-mla', { parallel: { interleave: 16 } }, 'refused'],
    ['sglang-cutedsl-mla', { parallel: { interleave: 2 } }, 'refused'],
    ['sglang-tokenspeed-mla', { parallel: { interleave: 64 } }, 'refused'],
    ['vllm-flashinfer-mla', {}, null],
    ['vllm-flashinfer-mla', { parallel: { interleave: 2 } }, 'refused'],
    ['vllm-flashinfer-mla', { parallel: { interleave: 2, dcpSize: 1 } }, null],
    ['vllm-flashmla-sparse', { parallel: { interleave: 64 } }, 'refused'],
    ['vllm-tokenspeed-mla', { parallel: { interleave: 4 } }, 'fallback'],
    ['vllm-flashmla', { parallel: { interleave: 64 } }, null],
    ['vllm-flashinfer-mla-legacy', { parallel: { interleave: 16 } }, null],
    ['vllm-flash-attn-mla', { parallel: { interleave: 16 } }, null],
    ['trtllm-helix', {}, null],
    ['trtllm-helix', { parallel: { interleave: 1 } }, 'refused'],
    ['trtllm-helix', { workload: { requests: [{ contextLen: 193 }] } }, null],
    ['trtllm-helix', { workload: { requests: [{ contextLen: 192 }] } }, 'refused'],
  ],
  transport: [
    ['sglang-trtllm-mla', { parallel: { comm: 'a2a' } }, null],
    ['sglang-trtllm-mla', { parallel: { comm: 'p2p' } }, 'refused'],
    ['vllm-flashmla-sparse', { parallel: { comm: 'ag_rs' } }, null],
    ['vllm-flashmla-sparse', { parallel: { comm: 'a2a' } }, 'refused'],
    ['vllm-flashmla-sparse', { parallel: { comm: 'p2p' } }, 'refused'],
    ['vllm-flashmla-sparse', { parallel: { comm: 'a2a', dcpSize: 1 } }, null],
    ['vllm-triton-mla', { parallel: { comm: 'a2a' } }, 'refused'],
    ['vllm-flashmla', { parallel: { comm: 'a2a' } }, null],
    ['trtllm-helix', { parallel: { comm: 'ag_rs' } }, 'refused'],
    ['native', { parallel: { comm: 'p2p' } }, null],
    ['sglang-trtllm-mla', { parallel: { replicateQ: true } }, 'refused'],
    ['sglang-trtllm-mla', { parallel: { replicateQ: true, comm: 'a2a' } }, null],
    ['sglang-cutedsl-mla', { parallel: { replicateQ: true, comm: 'a2a', dcpSize: 1 } }, 'refused'],
    ['vllm-flashmla', { parallel: { replicateQ: true } }, null],
  ],
  'head-envelope': [
    // 16 and 64 heads pad to 64; 16 and 128 to 64 and 128.
    ['vllm-flashmla-sparse', {}, null],
    ['vllm-flashmla-sparse', { parallel: { tpSize: 8, dcpSize: 8 } }, 'refused'],
    ['vllm-flashmla-sparse', { parallel: { tpSize: 8, dcpSize: 1 } }, null],
    ['vllm-flashmla-sparse', { model: { heads: 64 }, parallel: { tpSize: 4, dcpSize: 4 } }, null],
  ],
  heads: [
    ['sglang-trtllm-mla', {}, null],
    ['sglang-trtllm-mla', { parallel: { dcpSize: 8 } }, null],
    ['sglang-trtllm-mla', { model: { heads: 130 }, parallel: { tpSize: 2, dcpSize: 1 } }, 'refused'],
    ['sglang-trtllm-mla', { model: { heads: 128 }, parallel: { tpSize: 2, dcpSize: 1 } }, null],
    ['sglang-trtllm-mla', { model: { heads: 127 }, parallel: { tpSize: 1, dcpSize: 1 } }, 'refused'],
    ['sglang-trtllm-mla', { model: { heads: 192 } }, 'refused'],
    ['sglang-cutedsl-mla', { model: { heads: 192 } }, null],
    ['vllm-flashinfer-mla-legacy', {}, null],
    ['vllm-flashinfer-mla-legacy', { model: { heads: 192 } }, 'fallback'],
    ['vllm-flashinfer-mla-legacy', { model: { heads: 48 } }, 'fallback'],
    ['vllm-flashinfer-mla-legacy', { model: { heads: 32 } }, null],
    ['sglang-trtllm-mla', { model: { kvHeads: 8, headDim: 128 } }, 'refused'],
    ['native', { model: { kvHeads: 8, headDim: 128 } }, null],
    ['vllm-flashinfer-gqa', MLA_MODEL, 'refused'],
    // 2 KV heads on 8 TP ranks: 4 copies each.
    ['vllm-flashinfer-gqa', {}, null],
    ['vllm-flashinfer-gqa', { parallel: { dcpSize: 8 } }, 'refused'],
    ['vllm-flashinfer-gqa', { model: { heads: 24, kvHeads: 2 }, parallel: { dcpSize: 4 } }, null],
    ['vllm-flashinfer-gqa', { model: { heads: 24, kvHeads: 4 }, parallel: { dcpSize: 2 } }, null],
    [
      'vllm-flashinfer-gqa',
      { model: { heads: 40, kvHeads: 8 }, parallel: { tpSize: 8, dcpSize: 2 } },
      'refused',
    ],
    [
      'vllm-flashinfer-gqa',
      { model: { heads: 72, kvHeads: 2 }, parallel: { tpSize: 8, dcpSize: 8 } },
      'refused',
    ],
    ['vllm-flashinfer-gqa', { model: { heads: 40, kvHeads: 4 }, parallel: { tpSize: 8, dcpSize: 2 } }, null],
  ],
  'mixed-batch': [
    ['vllm-flashmla-sparse', {}, null],
    ['vllm-flashmla-sparse', { parallel: { tpSize: 4, dcpSize: 2 } }, 'refused'],
    ['vllm-flashmla-sparse', { model: { heads: 124 }, parallel: { tpSize: 4, dcpSize: 2 } }, null],
    ['vllm-flashmla-sparse', { parallel: { tpSize: 4, dcpSize: 1 } }, null],
  ],
  'kv-dtype': [
    ['sglang-trtllm-mla', bf16, null],
    ['sglang-trtllm-mla', { cache: { kvDtype: 'fp8_ds_mla' } }, 'refused'],
    ['sglang-tokenspeed-mla', {}, null],
    ['sglang-tokenspeed-mla', bf16, 'refused'],
    ['vllm-tokenspeed-mla', bf16, 'refused'],
    ['vllm-flashmla-sparse', {}, null],
    ['vllm-flashmla-sparse', bf16, 'refused'],
    ['vllm-flash-attn-mla', { cache: { kvDtype: 'fp8' } }, 'refused'],
    ['vllm-cutlass-mla', { cache: { kvDtype: 'fp8' } }, 'refused'],
    ['vllm-triton-mla', bf16, null],
  ],
  'page-size': [
    ['sglang-trtllm-mla', { cache: { pageSize: 32 } }, null],
    ['sglang-trtllm-mla', { cache: { pageSize: 16 } }, 'fallback'],
    ['sglang-tokenspeed-mla', { cache: { pageSize: 128 } }, 'fallback'],
    ['sglang-cutedsl-mla', { cache: { pageSize: 16 } }, null],
    ['sglang-cutedsl-mla', { cache: { pageSize: 1 } }, 'refused'],
    ['sglang-cutedsl-mla', { cache: { pageSize: 48 } }, 'refused'],
    ['vllm-flashinfer-mla', { cache: { pageSize: 128 } }, 'refused'],
    ['vllm-flashmla', { cache: { pageSize: 32 } }, 'refused'],
    ['vllm-cutlass-mla', { cache: { pageSize: 64 } }, 'refused'],
    ['vllm-flash-attn-mla', { cache: { pageSize: 48 } }, null],
    ['vllm-flash-attn-mla', { cache: { pageSize: 24 } }, 'refused'],
    ['vllm-triton-mla', { cache: { pageSize: 8 } }, 'refused'],
    ['vllm-flashinfer-gqa', { cache: { pageSize: 16 } }, null],
    ['vllm-flashinfer-gqa', { cache: { pageSize: 128 } }, 'refused'],
  ],
  version: [
    ['vllm-flashinfer-mla', {}, null],
    ['vllm-flashinfer-mla', { serving: { versions: { flashinfer: '0.6.17' } } }, null],
    ['vllm-flashinfer-mla', { serving: { versions: { flashinfer: '0.6.16' } } }, 'refused'],
    ['vllm-flashinfer-mla', { serving: { versions: { flashinfer: '0.6.17rc1' } } }, 'refused'],
    ['vllm-flashinfer-mla', { serving: { versions: { flashinfer: '0.6.17+cu130' } } }, null],
    ['vllm-flashinfer-mla', { serving: { versions: { flashinfer: 'main' } } }, 'refused'],
    ['vllm-flashinfer-mla', with1({ serving: { versions: { flashinfer: '0.6.12' } } }), null],
    ['vllm-tokenspeed-mla', { serving: { versions: { 'tokenspeed-mla': '0.1.7' } } }, 'refused'],
    ['vllm-tokenspeed-mla', { serving: { versions: { 'tokenspeed-mla': '0.1.8' } } }, null],
  ],
  'non-causal': [
    ['vllm-flashinfer-mla', { serving: { causal: true } }, null],
    ['vllm-flashinfer-mla', { serving: { causal: false } }, 'refused'],
    ['vllm-flashinfer-mla', with1({ serving: { causal: false } }), null],
    ['vllm-tokenspeed-mla', { serving: { causal: false } }, 'accepted'],
    ['vllm-flashinfer-gqa', { serving: { causal: false } }, 'refused'],
    ['vllm-flashinfer-mla-legacy', { serving: { causal: false } }, 'refused'],
    ['sglang-cutedsl-mla', { serving: { causal: false } }, 'refused'],
    ['native', { serving: { causal: false } }, 'refused'],
  ],
  draft: [
    ['vllm-flashinfer-mla', { serving: { draft: 'DSpark' } }, 'accepted'],
    ['vllm-flashinfer-mla-legacy', { serving: { draft: 'DSpark' } }, 'refused'],
    ['vllm-flashinfer-mla-legacy', with1({ serving: { draft: 'DSpark' } }), null],
    ['vllm-flashmla-sparse', { serving: { draft: 'GLM-5.2-speculator.dspark' } }, 'refused'],
    ['vllm-flashmla-sparse', { serving: { draft: 'MTP' } }, null],
    ['sglang-trtllm-mla', { serving: { draft: 'EAGLE3' } }, 'refused'],
    ['sglang-cutedsl-mla', { serving: { draft: 'DSPARK' } }, 'accepted'],
    ['sglang-cutedsl-mla', { serving: { draft: 'EAGLE3' } }, 'refused'],
    ['sglang-tokenspeed-mla', { serving: { draft: 'DSPARK' } }, 'accepted'],
    ['native', { serving: { draft: 'DSpark' } }, null],
  ],
  'prefill-no-merge': [
    ['vllm-flashinfer-gqa', { serving: { phase: 'prefill' } }, null],
    ['vllm-flashinfer-gqa', { serving: { phase: 'prefill', kernel: 'trtllm-gen' } }, 'fallback'],
    ['vllm-flashinfer-gqa', with1({ serving: { phase: 'prefill', kernel: 'trtllm-gen' } }), null],
    ['native', { serving: { phase: 'prefill' } }, 'refused'],
  ],
  'reorder-threshold': [
    ['vllm-flashinfer-gqa', { workload: { qLen: 2 } }, null],
    ['vllm-flashinfer-gqa', { workload: { qLen: 2 }, serving: { kernel: 'trtllm-gen' } }, 'fallback'],
    ['vllm-flashinfer-gqa', { serving: { kernel: 'trtllm-gen' } }, null],
    ['vllm-flashinfer-gqa', with1({ workload: { qLen: 2 }, serving: { kernel: 'trtllm-gen' } }), null],
    ['vllm-flashmla', { workload: { qLen: 2 } }, 'fallback'],
    ['vllm-cutlass-mla', { workload: { qLen: 2 } }, 'fallback'],
    ['vllm-triton-mla', { workload: { qLen: 2 } }, 'fallback'],
    ['vllm-flash-attn-mla', { workload: { qLen: 2 } }, null],
    ['vllm-flash-attn-mla', { workload: { qLen: 2 }, parallel: { interleave: 16 } }, 'fallback'],
  ],
  'fused-write': [
    ['sglang-trtllm-mla', {}, null],
    ['sglang-trtllm-mla', bf16, 'fallback'],
    ['sglang-trtllm-mla', with1(bf16), null],
  ],
  arch: [
    ['sglang-trtllm-mla', { serving: { arch: 'sm100' } }, null],
    ['sglang-trtllm-mla', { serving: { arch: 'sm90' } }, 'refused'],
    ['sglang-trtllm-mla', { serving: { arch: 'sm100' }, model: { preset: 'deepseek-v3' } }, 'accepted'],
    ['vllm-flashmla', { serving: { arch: 'sm90' } }, null],
    ['vllm-flashmla-sparse', { serving: { arch: 'sm100' } }, 'refused'],
    ['vllm-cutlass-mla', { serving: { arch: 'sm80' } }, 'refused'],
    ['vllm-triton-mla', { serving: { arch: 'sm80' } }, null],
    ['vllm-flashinfer-gqa', { serving: { arch: 'sm80' } }, null],
  ],
  autotune: [
    ['sglang-trtllm-mla', { serving: { phase: 'autotune' } }, 'fallback'],
    ['sglang-tokenspeed-mla', { serving: { phase: 'autotune' } }, 'fallback'],
    ['sglang-trtllm-mla', with1({ serving: { phase: 'autotune' } }), null],
    ['native', { serving: { phase: 'autotune' } }, 'refused'],
  ],
}

describe.each(Object.entries(CASES))('%s', (rule, cases) => {
  it.each(cases)('%s with %j: %s', (backend, over, verdict) => {
    const checked = judge(backend, over)
    const reason = reasonOf(checked, rule)
    expect(reason?.verdict ?? null).toBe(verdict)
    if (verdict === 'refused') expect(checked.verdict).toBe('refused')
    if (verdict === null || verdict === 'accepted') return
    // Says why, where that is written, what to do, and what a fallback costs.
    expect(reason?.message).toMatch(/^[A-Z0-9][^\n]+\.$/i)
    expect(reason?.instead).toMatch(/^\S[^\n]+$/)
    expect(reason?.source).toMatch(/^([\w.-]+\/[\w.-]+#\d+|docs\/[\w-]+\.md)$/)
    expect(reason?.lost !== undefined).toBe(verdict === 'fallback')
  })
})

describe('the guards of all back-ends', () => {
  it('are tested under the name of every rule', () => {
    expect(Object.keys(CASES).sort()).toEqual([...RULES].sort())
  })

  it('each have a case that they speak in', () => {
    const spoken = new Set(
      Object.values(CASES)
        .flat()
        .flatMap(([backend, over]) =>
          judge(backend, over).reasons.map(
            ({ rule, message }) => `${backend} ${rule} ${message.replace(/ \([^(]*\)\.$/, '.')}`,
          ),
        ),
    )
    // Guards that many back-ends share are made once, so a case of one back-end stands for all.
    const silent = PROFILES.flatMap(({ guards }) =>
      guards.map(({ rule, reason }) => ({ rule, reason })),
    ).filter(
      ({ rule, reason }) =>
        ![...spoken].some((text) => text.toLowerCase().includes(`${rule} ${reason}`.toLowerCase())),
    )
    expect([...new Set(silent.map(({ rule, reason }) => `${rule}: ${reason}`))]).toEqual([])
  })

  it.each(BACKEND_NAMES)('let %s decode with DCP, with one query token and its lse', (backend) => {
    const { verdict, reasons } = judge(backend)
    expect([verdict, reasons]).toEqual(['accepted', []])
  })

  it.each(BACKEND_NAMES)('leave %s without DCP as it is', (backend) => {
    expect(judge(backend, NO_DCP).verdict).toBe('accepted')
  })
})
