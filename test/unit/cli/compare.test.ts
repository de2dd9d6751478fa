import { cpSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { configFile, dcpscope, freshFolder, type Outcome } from './dcpscope.ts'

let folder = ''
const bundle = (name: string): string => join(folder, `${name}.dcp`)
const STEPS = { workload: { steps: 8 }, capture: { steps: [2], layers: [1] } }

beforeAll(async () => {
  folder = freshFolder()
  const configs = {
    base: { model: { preset: 'tiny' }, ...STEPS },
    a2a: { model: { preset: 'tiny' }, ...STEPS, parallel: { comm: 'a2a' } },
    two: { model: { preset: 'tiny' }, ...STEPS, parallel: { tpSize: 4, dcpSize: 2 } },
  }
  for (const [name, config] of Object.entries(configs))
    expect((await dcpscope(['run', configFile(config), '--out', bundle(name)])).code).toBe(0)
  const scenario = join(folder, 'scenario')
  await dcpscope(['run', '--scenario', 'lse-base-mismatch', '--out', scenario])
  for (const name of ['broken', 'fixed'])
    cpSync(join(scenario, `${name}.dcp`), bundle(name), { recursive: true })
})

const compare = (...args: readonly string[]): Promise<Outcome> => dcpscope(['compare', ...args])

/** The document of --json, and the exit code. */
const documentOf = async (...args: readonly string[]) => {
  const { code, stdout, stderr } = await compare(...args, '--json')
  expect(stderr).toBe('')
  return { code, document: JSON.parse(stdout) }
}

describe('dcpscope compare', () => {
  it('finds nothing but times between two transports of the same work', async () => {
    const { code, document } = await documentOf(bundle('base'), bundle('a2a'))
    expect(code).toBe(0)
    expect(document).toMatchObject({
      a: { kind: 'run', name: 'base.dcp' },
      b: { kind: 'run', name: 'a2a.dcp' },
      differences: [{ kind: 'way', path: 'parallel.comm', a: 'ag_rs', b: 'a2a' }],
      unlike: [],
      diverges: false,
      rows: { unlike: null, first: null, checks: { a: { failedSteps: 0 }, b: { failedSteps: 0 } } },
      tensors: { groups: 1, sameRanks: true },
      times: { steps: 8, firstStep: 0, lastStep: 7, repeatsOf: { a: 1, b: 1 } },
    })
    const row = (measure: string) =>
      document.times.rows.find((one: { measure: string }) => one.measure === measure)
    expect(row('out_all_to_all').verdict).toBe('b-only')
    expect(row('out_reduce_scatter').verdict).toBe('a-only')
    expect(row('decode_attn').aNs).toBeGreaterThan(0)
    const { stdout } = await compare(bundle('base'), bundle('a2a'))
    expect(stdout).toContain('  way     parallel.comm: ag_rs in A, a2a in B')
    expect(stdout).toContain('Numbers do not diverge beyond rounding')
    expect(stdout).toMatch(/out_all_to_all .* only in B/)
    expect(stdout).toContain('what differs from run to run is not told apart')
  })

  it('takes further runs of both configurations for repeats, and none of another', async () => {
    const repeats = ['base again', 'a2a again'].map(bundle)
    cpSync(bundle('base'), bundle('base again'), { recursive: true })
    cpSync(bundle('a2a'), bundle('a2a again'), { recursive: true })
    const { document } = await documentOf(
      bundle('base'),
      bundle('a2a'),
      '--repeats',
      ...repeats,
      bundle('two'),
    )
    expect(document.times.repeatsOf).toEqual({ a: 2, b: 2 })
    const attention = document.times.repeats.find((row: { measure: string }) => row.measure === 'decode_attn')
    // Copies differ in nothing, so that the interval is the ratio itself.
    expect(attention).toMatchObject({ a: 2, b: 2 })
    expect(attention.high).toBeCloseTo(attention.low, 9)
    expect((await compare(bundle('base'), bundle('base again'))).stdout).toContain(
      'runs of one configuration',
    )
  })

  it('says where a broken run diverges from the right one first, and exits with 1', async () => {
    const { code, document } = await documentOf(bundle('fixed'), bundle('broken'))
    expect(code).toBe(1)
    expect(document.diverges).toBe(true)
    expect(document.differences.map(({ path }: { path: string }) => path)).toContain('faults')
    const tensors: { tensor: string; diverging: number }[] = document.tensors.tensors
    expect(tensors.filter(({ diverging }) => diverging > 0).map(({ tensor }) => tensor)).toEqual(['merged'])
    expect(document.rows.checks.b.failedSteps).toBeGreaterThan(0)
    const { stdout } = await compare(bundle('fixed'), bundle('broken'))
    expect(stdout).toMatch(/Numbers diverge\.[\s\S]*First: merged at step \d+, layer 0, row \d+/)
    expect(stdout).toMatch(/Check of B: failed in \d+ steps?, first in step 0/)
  })

  it('compares unlike numbers of ranks by what they have in common, and says what it leaves out', async () => {
    const { code, document } = await documentOf(bundle('base'), bundle('two'))
    expect(code).toBe(0)
    expect(document.rows.unlike).toContain('parallel.dcpSize is 4 and 2')
    expect(document.tensors.tensors.map(({ tensor }: { tensor: string }) => tensor)).toEqual(['merged'])
    expect(document.tensors.tensors[0].diverging).toBe(0)
  })

  it('compares dumps, and a dump with what a run captured', async () => {
    const dump = join(folder, 'dump')
    await dcpscope(['dump', bundle('base'), '--out', dump])
    const { code, document } = await documentOf(dump, bundle('a2a'))
    expect(code).toBe(0)
    expect(document).toMatchObject({
      a: { kind: 'dump', name: 'dump' },
      times: null,
      rows: null,
      differences: [{ kind: 'way', path: 'comm', a: 'ag_rs', b: 'a2a' }],
    })
    expect((await compare(dump, dump)).stdout).toContain('Both have the same configuration')
  })

  it.each([
    [['base', 'none.dcp'], /no such bundle/],
    [['base', 'nothing'], /there is no such file or folder; name two bundles/],
  ])('refuses what is not there with one line: %j', async ([a = '', b = ''], says) => {
    const before = readdirSync(folder)
    const { code, stdout, stderr } = await compare(bundle(a), join(folder, b))
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/^dcpscope: [^\n]+\n$/)
    expect(stderr).toMatch(says)
    expect(readdirSync(folder)).toEqual(before)
  })

  it('refuses two of which no step and layer is the same, and says what to do', async () => {
    const [one, two] = [join(folder, 'one'), join(folder, 'two')]
    const config = configFile({
      model: { preset: 'tiny' },
      workload: { steps: 4 },
      capture: { steps: [3], layers: [0] },
    })
    await dcpscope(['run', config, '--out', `${one}.dcp`])
    await dcpscope(['dump', `${one}.dcp`, '--out', one])
    await dcpscope(['dump', bundle('base'), '--out', two])
    const { code, stderr } = await compare(one, two)
    expect(code).toBe(2)
    expect(stderr).toContain('capture or dump the same step and layer of both')
  })
})
