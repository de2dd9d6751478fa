import { describe, expect, it } from 'vitest'
import { RULES } from '../../../app/backends/guard.ts'
import { BACKEND_NAMES, PROFILES } from '../../../app/backends/index.ts'
import { type Cell, capabilityMatrix, checkAll, verdictOf } from '../../../app/backends/matrix.ts'
import { configOf } from './judge.ts'

const rows = capabilityMatrix().flatMap((group) => group.rows)

const cell = (feature: string, backend: string): Cell => {
  const found = rows
    .find((row) => row.feature.id === feature)
    ?.cells.find(({ profile }) => profile.name === backend)
  if (found === undefined) throw new Error(`no cell ${feature} ${backend}`)
  return found
}

describe('the matrix of back-ends and features', () => {
  it('has every back-end in every row, and every row once', () => {
    for (const { cells } of rows) expect(cells.map(({ profile }) => profile.name)).toEqual(BACKEND_NAMES)
    const ids = rows.map(({ feature }) => feature.id)
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('has a row of every rule', () => {
    const of = new Set(
      rows.flatMap(({ feature, cells }) => [
        feature.rule,
        ...cells.flatMap(({ judged }) => judged?.checked.reasons.map(({ rule }) => rule) ?? []),
      ]),
    )
    expect([...of].sort()).toEqual([...RULES].sort())
  })

  it.each([
    ['decode', 'sglang-trtllm-mla', 'accepted'],
    ['q-2', 'sglang-trtllm-mla', 'refused'],
    ['no-dcp', 'sglang-trtllm-mla', 'accepted'],
    ['kv-bf16', 'sglang-trtllm-mla', 'fallback'],
    ['gathered-96', 'sglang-trtllm-mla', 'refused'],
    ['gathered-96', 'sglang-cutedsl-mla', 'accepted'],
    ['gathered-96', 'vllm-flashinfer-mla-legacy', 'fallback'],
    ['interleave-16', 'vllm-flashinfer-mla', 'refused'],
    ['flashinfer-0.6.16', 'vllm-flashinfer-mla', 'refused'],
    ['flashinfer-0.6.16', 'vllm-flashmla', 'accepted'],
    ['dspark', 'vllm-flashinfer-mla', 'accepted'],
    ['tp8-dcp8', 'vllm-flashmla-sparse', 'refused'],
    ['local-32', 'vllm-flashmla-sparse', 'refused'],
    ['comm-a2a', 'vllm-flashmla-sparse', 'refused'],
    ['comm-a2a', 'trtllm-helix', 'accepted'],
    ['interleave-page', 'trtllm-helix', 'accepted'],
    ['xqa', 'vllm-flashinfer-gqa', 'fallback'],
    ['xqa', 'vllm-flashmla', null],
    ['q-8', 'native', 'accepted'],
  ] as const)('%s with %s: %s', (feature, backend, verdict) => {
    expect(verdictOf(cell(feature, backend))).toBe(verdict)
  })

  it('judges configurations that name the back-end and can be copied', () => {
    for (const { cells } of rows)
      for (const { profile, judged } of cells)
        if (judged !== null) {
          expect(judged.config.serving?.backend).toBe(profile.name)
          expect(judged.checked.backend).toBe(profile.name)
          expect(JSON.parse(JSON.stringify(judged.config))).toBeTruthy()
        }
  })
})

describe('one configuration and every back-end', () => {
  it('is judged as each would, whichever it names', () => {
    const checked = checkAll(configOf('vllm-flashinfer-gqa', { serving: { kernel: 'xqa' } }))
    expect(checked.map(({ backend }) => backend)).toEqual(PROFILES.map(({ name }) => name))
    const verdicts = Object.fromEntries(checked.map(({ backend, verdict }) => [backend, verdict]))
    expect(verdicts).toMatchObject({
      'vllm-flashinfer-gqa': 'fallback',
      'sglang-trtllm-mla': 'refused',
      native: 'accepted',
    })
  })
})
