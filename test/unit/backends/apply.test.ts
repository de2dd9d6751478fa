import { describe, expect, it } from 'vitest'
import { BACKEND_NAMES, PROFILES, profileNamed } from '../../../app/backends/index.ts'
import { sourcesOf } from '../../../app/backends/words.ts'
import { engineConfig } from '../../../app/run/engine-config.ts'
import { issueText, parseRunConfig } from '../../../app/run/parse.ts'
import { unsupported } from '../../../app/run/support.ts'
import { configOf } from './judge.ts'

const issues = (backend: string, over: unknown = {}): string[] =>
  unsupported(configOf(backend, over)).map(issueText)

describe('a configuration that names a back-end', () => {
  it('gets the semantics of its kernel and its merge, whatever it says itself', () => {
    const over = { engine: { lseBase: 'e', emptyRow: 'nan' }, parallel: { wireDtype: 'out' } }
    expect(engineConfig(configOf('sglang-trtllm-mla', over))).toMatchObject({
      lseBase: '2',
      emptyRow: 'unwritten',
      wireFp32: true,
    })
    expect(engineConfig(configOf('sglang-trtllm-mla', { parallel: { comm: 'a2a' } })).wireFp32).toBe(false)
    expect(engineConfig(configOf('vllm-flashmla', over))).toMatchObject({
      lseBase: 'e',
      emptyRow: 'plusInf',
      wireFp32: false,
    })
    expect(engineConfig(configOf('vllm-flashmla-sparse'))).toMatchObject({
      lseLayout: '[H,T]',
      paddedHeads: 64,
      zeroWeight: 'dropped',
    })
    expect(engineConfig(configOf('vllm-cutlass-mla'))).toMatchObject({ lseLayout: '[T,H]', paddedHeads: 128 })
    expect(engineConfig(configOf('vllm-triton-mla'))).toMatchObject({ lseType: 'bf16' })
    expect(engineConfig(configOf('vllm-triton-mla', { cache: { kvDtype: 'fp32' } })).lseType).toBe('fp32')
    for (const [comm, allEmpty] of [
      ['ag_rs', 'zero'],
      ['a2a', 'nan'],
    ])
      expect(engineConfig(configOf('sglang-trtllm-mla', { parallel: { comm } }))).toMatchObject({
        zeroWeight: 'multiplied',
        allEmpty,
      })
  })

  it('stays as it is with our own, or with none', () => {
    const engine = { lseBase: '2', emptyRow: 'nan' }
    expect(engineConfig(configOf('native', { engine }))).toMatchObject(engine)
    const parsed = parseRunConfig({ engine })
    expect(parsed.ok && engineConfig(parsed.config)).toMatchObject(engine)
  })

  it('names a kernel that the back-end has', () => {
    const parsed = parseRunConfig({ serving: { backend: 'vllm-flashinfer-gqa', kernel: 'cute-dsl' } })
    expect(parsed.ok ? [] : parsed.issues.map(issueText)).toEqual([
      'serving.kernel: must be native or trtllm-gen or xqa with vllm-flashinfer-gqa, got "cute-dsl"',
    ])
    expect(parseRunConfig({ serving: { backend: 'vllm' } }).ok).toBe(false)
    expect(() => profileNamed('vllm')).toThrow(RangeError)
  })
})

describe('what the engine computes exactly of a back-end', () => {
  it.each([
    ['native', {}],
    ['sglang-trtllm-mla', {}],
    ['sglang-trtllm-mla', { cache: { kvDtype: 'bf16' } }],
    ['sglang-cutedsl-mla', { workload: { qLen: 8 } }],
    ['sglang-cutedsl-mla', { workload: { qLen: 8 }, serving: { draft: 'DSpark' } }],
    ['vllm-tokenspeed-mla', { workload: { qLen: 4 } }],
    ['vllm-flashinfer-mla', { workload: { qLen: 4 }, parallel: { comm: 'a2a' } }],
    ['vllm-flashinfer-mla-legacy', { workload: { qLen: 4 }, parallel: { interleave: 16 } }],
    ['vllm-flashmla', { parallel: { interleave: 64 } }],
    ['vllm-flashmla-sparse', { workload: { qLen: 2 } }],
    ['trtllm-helix', { workload: { qLen: 2 } }],
    ['vllm-flash-attn-mla', { workload: { qLen: 2 } }],
    ['vllm-cutlass-mla', {}],
    ['vllm-cutlass-mla', { parallel: { dcpSize: 8 } }],
    ['vllm-triton-mla', {}],
    ['vllm-flashinfer-gqa', { workload: { qLen: 4 }, parallel: { interleave: 16 } }],
    ['native', { model: { kvHeads: 8, headDim: 128 } }],
  ])('%s with %j runs', (backend, over) => {
    expect(issues(backend, over)).toEqual([])
  })

  it.each([
    ['sglang-tokenspeed-mla', {}, /in a base that nobody has verified/],
    ['vllm-flashmla', { workload: { qLen: 2 } }, /the fallback of vllm-flashmla \(reorder-threshold\)/],
    [
      'vllm-tokenspeed-mla',
      { parallel: { interleave: 16 } },
      /parallel\.interleave: the fallback of vllm-tokenspeed-mla \(interleave\) .*; set parallel\.interleave to 1/,
    ],
    ['vllm-flashinfer-mla-legacy', { model: { heads: 192 } }, /model\.heads: the fallback of .* \(heads\)/],
    ['sglang-trtllm-mla', { cache: { pageSize: 16 } }, /cache\.pageSize: the fallback of .* \(page-size\)/],
    ['sglang-trtllm-mla', { engine: { device: 'cuda', graph: true } }, /engine\.graph: .* not empty/],
    [
      'sglang-cutedsl-mla',
      { serving: { draft: 'DSpark' } },
      /workload\.qLen: a draft whose tokens nobody verifies/,
    ],
  ])('%s with %j is refused in its own words', (backend, over, says) => {
    const found = issues(backend, over)
    expect(found.join('; ')).toMatch(says)
    for (const text of found) expect(text).toMatch(/ is not supported by this version's engine(; |$)/)
  })

  it('is refused too where the serving engine refuses', () => {
    expect(issues('sglang-trtllm-mla', { workload: { qLen: 2 } })).toEqual([
      expect.stringMatching(
        /^workload\.qLen: sglang-trtllm-mla refuses this \(q-len\): .* \(q_len 2\); verify with /,
      ),
    ])
  })
})

describe('the profiles', () => {
  it('have names of their own, and ours comes first', () => {
    expect(new Set(BACKEND_NAMES).size).toBe(PROFILES.length)
    expect(PROFILES[0]).toBe(profileNamed(undefined))
    expect(PROFILES.filter(({ framework }) => framework === 'dcpscope')).toHaveLength(1)
  })

  it.each(PROFILES.map((profile) => [profile.name, profile] as const))(
    '%s says where its facts were read',
    (_, profile) => {
      expect(sourcesOf(profile).length).toBeGreaterThan(0)
      for (const source of sourcesOf(profile))
        expect(source).toMatch(/^([\w.-]+\/[\w.-]+#\d+|docs\/[\w-]+\.md)$/)
    },
  )

  it('size the counters of trtllm-gen by gathered heads, and hand none to kernels that mask by rank', () => {
    expect(profileNamed('sglang-trtllm-mla').semantics.splitCounters).toBe('gathered')
    expect(profileNamed('vllm-flashinfer-mla').semantics.splitCounters).toBe('none')
  })

  it('merge in the base that their kernel writes, as far as it is known', () => {
    // What each merge assumes, from the serving engines: 2 for trtllm-gen and TokenSpeed, e for all others.
    const base2 = PROFILES.filter(({ semantics }) => semantics.lse.base === '2').map(({ name }) => name)
    expect(base2.sort()).toEqual([
      'sglang-tokenspeed-mla',
      'sglang-trtllm-mla',
      'vllm-flashinfer-gqa',
      'vllm-flashinfer-mla-legacy',
      'vllm-tokenspeed-mla',
    ])
    expect(PROFILES.filter(({ semantics }) => !semantics.lse.verified).map(({ name }) => name)).toEqual([
      'sglang-tokenspeed-mla',
      'trtllm-helix',
    ])
  })
})
