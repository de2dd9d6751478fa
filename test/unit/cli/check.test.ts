import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { merged } from '../../../app/run/parse.ts'
import { configFile, dcpscope, freshFolder, manifestOf } from './dcpscope.ts'

const check = async (config: unknown, more: readonly string[] = []) => {
  const { code, stdout, stderr } = await dcpscope(['check', configFile(config), '--json', ...more])
  expect(stderr).toBe('')
  expect(stdout.trimEnd().split('\n')).toHaveLength(1)
  return { code, ...JSON.parse(stdout) }
}

describe('dcpscope check', () => {
  it('accepts what the back-end takes, with exit 0', async () => {
    const config = { serving: { backend: 'vllm-flashinfer-mla' }, workload: { qLen: 4 } }
    expect(await check(config)).toEqual({
      code: 0,
      backend: 'vllm-flashinfer-mla',
      verdict: 'accepted',
      reasons: [],
      engine: [],
    })
  })

  it('refuses with rule, reason, source and what to do instead, and exit 1', async () => {
    const { code, verdict, reasons } = await check({
      serving: { backend: 'vllm-flashinfer-mla', versions: { flashinfer: '0.6.16' } },
      parallel: { interleave: 16 },
    })
    expect([code, verdict]).toEqual([1, 'refused'])
    expect(reasons).toEqual([
      {
        rule: 'interleave',
        verdict: 'refused',
        message: 'The mask in the kernel is that of tokens dealt out one by one (interleave 16).',
        source: 'vllm-project/vllm#54012',
        instead: 'set parallel.interleave to 1',
        path: 'parallel.interleave',
      },
      expect.objectContaining({ rule: 'version', verdict: 'refused', path: 'serving.versions' }),
    ])
  })

  it('names what is lost by a fallback, with exit 0', async () => {
    const { code, verdict, reasons } = await check({ serving: { backend: 'sglang-trtllm-mla' } })
    expect([code, verdict]).toEqual([0, 'fallback'])
    expect(reasons).toEqual([
      expect.objectContaining({ rule: 'fused-write', lost: expect.stringMatching(/fusion/) }),
    ])
  })

  it('takes --backend in place of the one that is named, and our own where none is', async () => {
    const config = { serving: { backend: 'vllm-flashmla' }, cache: { kvDtype: 'fp32' } }
    expect(await check(config, ['--backend', 'native'])).toMatchObject({
      backend: 'native',
      verdict: 'accepted',
    })
    expect(await check(config)).toMatchObject({ backend: 'vllm-flashmla', verdict: 'refused', code: 1 })
    expect(await check({})).toMatchObject({ backend: 'native', verdict: 'accepted', code: 0 })
  })

  it('says what keeps our engine from running what the back-end accepts', async () => {
    const { code, verdict, engine } = await check({
      serving: { backend: 'sglang-tokenspeed-mla' },
      cache: { kvDtype: 'fp8' },
    })
    expect([code, verdict]).toEqual([0, 'accepted'])
    expect(engine).toEqual([
      { path: 'serving.backend', message: expect.stringMatching(/nobody has verified/) },
    ])
  })

  it('says it in words', async () => {
    const { code, stdout } = await dcpscope(['check', '-', '--backend', 'sglang-trtllm-mla'], {
      stdin: '{"workload":{"qLen":2},"cache":{"kvDtype":"fp8"}}',
    })
    expect(code).toBe(1)
    expect(stdout).toMatch(/^sglang-trtllm-mla \(SGLang trtllm_mla\): refused\n\n {2}refused {2}q-len\n/)
    expect(stdout).toMatch(/^ {4}instead: \S.*\n {4}source: sgl-project\/sglang#33926$/m)
    expect(stdout).toMatch(/^lse base +2$/m)
    expect(stdout).toMatch(/^dcpscope run refuses this as well$/m)
  })

  it.each([
    [['check'], /missing required argument 'config'/],
    [['check', '/nowhere/c.json'], /\/nowhere\/c\.json: there is no such file/],
    [['check', 'FILE', '--backend', 'vllm'], /--backend: must be native or .*, got "vllm"/],
    [['check', 'FILE', '--preset', 'gpt'], /--preset: must be tiny or .*, got "gpt"/],
  ])('%j is refused in one line', async (args, says) => {
    const data = freshFolder()
    const file = configFile({})
    const { code, stdout, stderr } = await dcpscope(
      args.map((word) => (word === 'FILE' ? file : word)),
      { data },
    )
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/^dcpscope: [^\n]+\n$/)
    expect(stderr).toMatch(says)
    expect(readdirSync(data)).toEqual([])
  })

  it.each([
    [[], /must be an object/],
    [{ serving: { backend: 'vllm' } }, /serving\.backend: must be native or .*, got "vllm"/],
    [
      { serving: { backend: 'vllm-flashmla', kernel: 'x' } },
      /serving\.kernel: must be flashmla with vllm-flashmla, got "x"/,
    ],
    [{ serving: { queryLens: [9] } }, /serving\.queryLens\[0\]: must be at most 8, got 9/],
    [
      { parallel: { tpSize: 6, dcpSize: 4 }, model: { heads: 12 } },
      /parallel\.dcpSize: must divide tpSize \(6\), got 4/,
    ],
  ])('a configuration such as %j is refused as by run', async (config, says) => {
    const { code, stdout, stderr } = await dcpscope(['check', configFile(config)])
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(says)
  })
})

describe('dcpscope run with a back-end', () => {
  const small = (over: object) =>
    merged(
      {
        model: { preset: 'tiny' },
        cache: { pageSize: 64, kvDtype: 'bf16' },
        workload: { steps: 2, warmup: 0, requests: [{ contextLen: 300 }, { contextLen: 1 }] },
        check: { rows: 'all' },
        engine: { device: 'cpu' },
      },
      over,
    )

  it.each([
    ['native', {}],
    ['sglang-trtllm-mla', { cache: { kvDtype: 'fp8' } }],
    ['sglang-trtllm-mla', { parallel: { comm: 'a2a' } }],
    ['sglang-cutedsl-mla', { workload: { qLen: 4 } }],
    ['vllm-tokenspeed-mla', { workload: { qLen: 4 }, cache: { kvDtype: 'fp8' } }],
    ['vllm-flashinfer-mla', { workload: { qLen: 3 }, parallel: { comm: 'a2a' } }],
    ['vllm-flashinfer-mla-legacy', { workload: { qLen: 3 }, parallel: { interleave: 16 } }],
    ['vllm-flashmla', { parallel: { interleave: 64 } }],
    ['vllm-cutlass-mla', { model: { heads: 128 }, parallel: { interleave: 2 }, cache: { pageSize: 128 } }],
  ])('%s with %j agrees with the unsharded reference', async (backend, over) => {
    const config = merged(small(over), { serving: { backend } })
    const out = `${freshFolder()}/run.dcp`
    const { code, stdout, stderr } = await dcpscope(['run', configFile(config), '--out', out, '--json'])
    expect([code, stderr]).toEqual([0, ''])
    const { check: made, backend: named } = JSON.parse(stdout)
    expect(named).toBe(backend)
    expect(made).toMatchObject({ ok: true, nanRows: 0 })
    expect(made.checkedRows).toBeGreaterThan(0)
    expect(made.emptyRows).toBeGreaterThan(0)
  })

  it('computes with its semantics and keeps them in the bundle', async () => {
    const out = `${freshFolder()}/run.dcp`
    const config = configFile({
      model: { preset: 'tiny' },
      cache: { pageSize: 64 },
      workload: { steps: 2 },
      check: { rows: 'all' },
      serving: { backend: 'vllm-flashinfer-mla-legacy' },
      engine: { device: 'cpu' },
    })
    const { code, stdout, stderr } = await dcpscope(['run', config, '--out', out, '--json'])
    expect([code, stderr]).toEqual([0, ''])
    expect(JSON.parse(stdout)).toMatchObject({ backend: 'vllm-flashinfer-mla-legacy', check: { ok: true } })
    const [row] = JSON.parse(
      (
        await dcpscope([
          'query',
          out,
          'select count(*)::int as n from rows where "empty"',
          '--format',
          'json',
        ])
      ).stdout,
    )
    expect(row.n).toBeGreaterThan(0)
    expect(manifestOf(out).config.engine).toMatchObject({ lseBase: '2', emptyRow: 'unwritten' })
  })

  it('refuses what the back-end refuses, in one line, with exit 2', async () => {
    const { code, stdout, stderr } = await dcpscope([
      'run',
      configFile({ serving: { backend: 'sglang-trtllm-mla' }, workload: { qLen: 2 } }),
    ])
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(
      /workload\.qLen: sglang-trtllm-mla refuses this \(q-len\): .*; verify with cutedsl_mla/,
    )
  })
})
