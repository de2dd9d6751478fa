import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { SCENARIOS } from '../../../app/scenarios/index.ts'
import { configFile, dcpscope, freshFolder, manifestOf, query } from './dcpscope.ts'

describe('dcpscope scenarios', () => {
  it('lists the library as one JSON document', async () => {
    const { code, stdout, stderr } = await dcpscope(['scenarios', '--json'])
    expect([code, stderr]).toEqual([0, ''])
    const all = JSON.parse(stdout)
    expect(all).toHaveLength(SCENARIOS.length)
    expect(all[0]).toEqual({
      name: 'lse-base-mismatch',
      title: expect.any(String),
      backend: 'sglang-trtllm-mla',
      fault: 'lse-base-mismatch',
      source: 'sgl-project/sglang#33064',
    })
  })

  it('lists it in words, a line each', async () => {
    const { stdout } = await dcpscope(['scenarios'])
    const [head, ...lines] = stdout.trimEnd().split('\n')
    expect(head).toMatch(/^name +back-end +source +title$/)
    expect(lines.map((line) => line.split(' ')[0])).toEqual(SCENARIOS.map(({ name }) => name))
  })
})

describe('dcpscope run --scenario', () => {
  it('runs it broken and fixed into two bundles, and exits with 1 for the failed check', async () => {
    const out = join(freshFolder(), 'gap')
    const { code, stdout, stderr } = await dcpscope([
      'run',
      '--scenario',
      'coverage-gap',
      '--out',
      out,
      '--json',
    ])
    expect([code, stderr]).toEqual([1, ''])
    const { broken, fixed } = JSON.parse(stdout)
    expect(broken).toMatchObject({ bundle: join(out, 'broken.dcp'), device: 'cpu', steps: 4, dropped: 0 })
    expect(fixed).toMatchObject({ bundle: join(out, 'fixed.dcp'), device: 'cpu', steps: 4, dropped: 0 })
    expect([broken.check.ok, fixed.check.ok]).toEqual([false, true])
    expect(fixed.check.maxRelErr).toBeLessThan(1e-2)
    expect(readdirSync(out).sort()).toEqual(['broken.dcp', 'fixed.dcp'])
    expect(manifestOf(broken.bundle).config).toMatchObject({ faults: [{ fault: 'coverage-gap' }] })
    expect(manifestOf(fixed.bundle).config).toMatchObject({ faults: [] })
    const kinds = await query(broken.bundle, "select distinct kind from events where kind = 'check_failed'")
    expect(kinds).toEqual([{ kind: 'check_failed' }])
  })

  it('says what it is about above both summaries', async () => {
    const data = freshFolder()
    const { code, stdout } = await dcpscope(['run', '--scenario', 'pad-row-garbage'], { data })
    // Harmless: the rows of the batch are right.
    expect(code).toBe(0)
    expect(stdout).toMatch(/^pad-row-garbage: Garbage in rows/)
    expect(stdout).toContain('seen in flashinfer-ai/flashinfer#2883')
    expect(stdout.match(/^ {2}check +ok/gm)).toHaveLength(2)
    expect(stdout.match(/^ {2}fault +pad-row-garbage on all ranks$/gm)).toHaveLength(1)
    const runs = readdirSync(join(data, 'dcpscope', 'runs'))
    expect(runs.map((name) => name.replace(/^[\d-]+-pad/, 'pad')).sort()).toEqual([
      'pad-row-garbage-broken.dcp',
      'pad-row-garbage-fixed.dcp',
    ])
  })

  it('takes its name only, with one line for what else is wrong', async () => {
    const full = freshFolder()
    mkdirSync(join(full, 'x'))
    writeFileSync(join(full, 'x', 'y'), '')
    for (const [args, says] of [
      [['--scenario', 'x'], '--scenario: there is no "x"; "dcpscope scenarios" lists them'],
      [['--scenario', 'coverage-gap', '--device', 'tpu'], '--device: must be auto, cpu or cuda, got "tpu"'],
      [
        ['--scenario', 'coverage-gap', '--preset', 'tiny'],
        '--scenario: brings a configuration of its own; leave the configuration, --preset and --ranks out',
      ],
      [
        [configFile({}), '--scenario', 'coverage-gap'],
        '--scenario: brings a configuration of its own; leave the configuration, --preset and --ranks out',
      ],
      [['--scenario', 'coverage-gap', '--out', full], `--out: ${full} is not empty`],
    ] as const) {
      const outcome = await dcpscope(['run', ...args])
      expect(outcome).toMatchObject({ code: 2, stdout: '', stderr: `dcpscope: ${says}\n` })
    }
    expect(existsSync(join(full, 'broken.dcp'))).toBe(false)
  })
})
