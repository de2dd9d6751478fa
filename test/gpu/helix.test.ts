import { describe, expect, it } from 'vitest'
import type { EngineFault } from '../../app/faults/engine.ts'
import { type EngineConfig, engineConfig } from '../../app/run/engine-config.ts'
import { issueText, parseRunConfig } from '../../app/run/parse.ts'
import { unsupported } from '../../app/run/support.ts'
import { column, type Finished, finish, tensorOf, worst } from '../native/engine.ts'
import { dcpscope } from '../unit/cli/dcpscope.ts'
import { diagnosed } from '../unit/diagnosis/altered.ts'
import { bytesOf, countsOf, exactOf, expectAgreement } from './agreement.ts'
import { gpuConfig } from './config.ts'
import { fault } from './differences.ts'
import { skipReason } from './program.ts'
import { newBundle } from './rank-cases.ts'

/** Helix on a GPU: generated tokens begin again at rank 0. Ranks in turn; those in processes are in processes*.test.ts. */

const SUITE = 'the tests of tokens dealt out anew on a GPU'
const skipped = skipReason(SUITE) !== undefined

const STEPS = 20
/** The first and the last step; with two tokens a step those that end the first block and begin the next. */
const CAPTURED = [0, 7, 8, STEPS - 1]

/** Prompts around the borders of blocks and pages; what is generated fills blocks of several ranks. */
const anew = (over: Partial<EngineConfig> = {}): EngineConfig =>
  gpuConfig({
    restarts: true,
    interleave: 16,
    pageSize: 16,
    contextLens: [0, 1, 15, 16, 63, 64, 130, 3000],
    shuffledPages: true,
    acceptedPerStep: over.qLen ?? 1,
    steps: STEPS,
    checkRows: 2,
    captureSteps: CAPTURED,
    captureLayers: [1],
    ...over,
  })

const atStep = ({ captures }: Finished, step: number): Pick<Finished, 'captures'> => ({
  captures: captures.filter((capture) => capture.step === step),
})

const expectSame = (cuda: Finished, cpu: Finished, config: EngineConfig): void => {
  for (const step of config.captureSteps) expectAgreement(atStep(cuda, step), atStep(cpu, step), config)
  for (let rank = 0; rank < config.ranks; rank++) expect(countsOf(cuda, rank)).toEqual(countsOf(cpu, rank))
  expect(cuda.dropped).toBe(0)
}

const nameOf = (c: EngineConfig): string =>
  `${c.comm}, dcp ${c.ranks}, blocks of ${c.interleave} in pages of ${c.pageSize}, q_len ${c.qLen}, ${c.acceptedPerStep} accepted, ${c.kvDtype}`

const CASES: readonly Partial<EngineConfig>[] = [
  {},
  { comm: 'a2a', qLen: 2, lseBase: '2' },
  { comm: 'p2p', qLen: 3, kvDtype: 'fp8', interleave: 32, pageSize: 32 },
  { comm: 'a2a', ranks: 2, interleave: 4, qLen: 4, acceptedPerStep: 3, needles: true },
  { comm: 'ag_rs', ranks: 8, interleave: 1, pageSize: 64, emptyRow: 'nan' },
  { comm: 'a2a', kvDtype: 'fp8_ds_mla', ranks: 8, interleave: 8, qLen: 8, heads: 64 },
  { comm: 'p2p', kvHeads: 4, headDim: 64, interleave: 8, qLen: 2 },
  { ranks: 1, qLen: 2 },
  { contextLens: [100, 5, 64, 0, 0], padRequests: 2, padLength: 1 },
]

const FAULTS: readonly EngineFault[] = [
  fault('coverage-gap', { ranks: [0, 2], amount: 1 }),
  fault('slot-map-ignores-dcp'),
  fault('length-views-swapped'),
  fault('interleave-mismatch', { amount: 8 }),
  fault('interleave-mismatch', { amount: 8, variant: 1 }),
  fault('stale-graph-metadata', { steps: [8, 19] }),
]

describe.skipIf(skipped)(SUITE, () => {
  for (const over of CASES) {
    const config = anew(over)
    it(`agree with the CPU (${nameOf(config)})`, async () => {
      const cuda = await finish(config)
      expectSame(cuda, await finish({ ...config, device: 'cpu' }), config)
      expect(worst(column(cuda.chunks, 'steps', -1, 'max_rel_err'))).toBeLessThan(1e-2)
    })
  }

  for (const comm of ['ag_rs', 'a2a', 'p2p'] as const)
    it(`are the same bits eager and as replayed graphs (${comm})`, async () => {
      const config = anew({ comm, qLen: 2 })
      const eager = await finish(config)
      const replayed = await finish({ ...config, graph: true })
      expect(column(replayed.chunks, 'steps', -1, 'graph_replayed')).toContain(1)
      for (const capture of eager.captures.filter(({ rank }) => rank >= 0)) {
        const { rank, step } = capture
        const other = replayed.captures.find((one) => one.rank === rank && one.step === step)
        if (other === undefined) throw new Error(`no capture of rank ${rank}, step ${step}`)
        for (const name of [...exactOf(config), 'prompt_lens', 'out', 'lse', 'merged'])
          expect(bytesOf(other, name).equals(bytesOf(capture, name)), `${name} of rank ${rank}`).toBe(true)
      }
    })

  for (const one of FAULTS)
    for (const graph of [false, true])
      it(`hand over what ${one.fault} makes of them, variant ${one.variant}, as on the CPU (graph: ${graph})`, async () => {
        const config = anew({ comm: 'a2a', faults: [one], checkRows: 0, graph })
        const cuda = await finish(config)
        const cpu = await finish({ ...config, device: 'cpu', graph: false })
        const healthy = await finish({ ...config, device: 'cpu', graph: false, faults: [] })
        const tables = ['seq_lens_local', 'block_table', 'slot_mapping', 'kv'] as const
        let changed = false
        cpu.captures.forEach((capture, i) => {
          if (capture.rank < 0) return
          const [own, plain] = [cuda.captures[i], healthy.captures[i]]
          if (own === undefined || plain === undefined) throw new Error('captures are missing')
          for (const name of tables) {
            expect(tensorOf(own, name).shape).toEqual(tensorOf(capture, name).shape)
            const where = `${name} of rank ${capture.rank}, step ${capture.step}`
            expect(bytesOf(own, name).equals(bytesOf(capture, name)), where).toBe(true)
            changed ||= !bytesOf(own, name).equals(bytesOf(plain, name))
          }
        })
        expect(changed).toBe(true)
      })
})

describe.skipIf(skipped)('trtllm-helix on a GPU', () => {
  const written = (faults: readonly object[] = []) => ({
    model: { heads: 16, layers: 1 },
    parallel: { tpSize: 4, dcpSize: 4, interleave: 32, comm: 'a2a' },
    cache: { pageSize: 32 },
    workload: { requests: [{ contextLen: 300 }, { contextLen: 137 }, { contextLen: 128 }], steps: 40 },
    engine: { device: 'cuda' },
    serving: { backend: 'trtllm-helix' },
    check: { rows: 'all' },
    faults,
  })
  const parsed = (faults: readonly object[] = []) => {
    const result = parseRunConfig(written(faults))
    if (!result.ok) throw new Error(result.issues.map(issueText).join('; '))
    return result.config
  }

  it('runs from the command line, and its check passes', async () => {
    expect(unsupported(parsed())).toEqual([])
    const stdin = JSON.stringify(written())
    const { code, stdout, stderr } = await dcpscope(['run', '-', '--out', newBundle(), '--json'], { stdin })
    expect([code, stderr]).toEqual([0, ''])
    expect(JSON.parse(stdout)).toMatchObject({ device: 'cuda', backend: 'trtllm-helix', dropped: 0 })
  })

  it('is healthy in the diagnosis, which finds a fault of it', async () => {
    const found = async (faults: readonly object[]) => {
      const config = parsed(faults)
      const { captures } = await finish(engineConfig(config, 'cuda'))
      return (await diagnosed({ config, captures })).findings.map((finding) => finding.fault)
    }
    expect(await found([])).toEqual([])
    for (const one of ['coverage-gap', 'slot-map-ignores-dcp', 'length-views-swapped'])
      expect((await found([{ fault: one }]))[0]).toBe(one)
  })
})
