import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { EngineConfig } from '../../app/run/engine-config.ts'
import { EVENT_KINDS, STAGES, type Stage } from '../../app/trace/stages.ts'
import { addon, column, type Finished, finish, rowsOf } from '../native/engine.ts'
import { configFile, dcpscope, freshFolder, manifestOf, query } from '../unit/cli/dcpscope.ts'
import { gpuConfig } from './config.ts'
import { skipReason } from './program.ts'

const SUITE = 'the tests of recorded kernels on a GPU'
const skipped = skipReason(SUITE) !== undefined
const problem = skipped ? '' : addon.kernelProblem()
if (problem !== '') process.stderr.write(`${SUITE.toUpperCase()} ARE SKIPPED: ${problem}\n`)

const STEPS = 5
const RECORDED = [1, 4]

const onGpu = (over: Partial<EngineConfig> = {}): EngineConfig =>
  gpuConfig({
    contextLens: [0, 1, 65, 130, 5000],
    steps: STEPS,
    kernelSteps: RECORDED,
    ...over,
  })

/** Names of the recorded kernels of a rank, in order of their rows. */
const namesOf = (run: Finished, rank: number): string[] =>
  run.chunks
    .filter((chunk) => chunk.table === 'kernels' && chunk.rank === rank)
    .flatMap((chunk) => column([chunk], 'kernels', rank, 'name').map((place) => chunk.names?.[place] ?? ''))

/** Beside these no kernel need lie: they contain other stages, or are part of the kernel of one. */
const WITHOUT_KERNEL: readonly Stage[] = ['graph_replay', 'stall', 'split_combine']

const needsKernel = (code: number | undefined): boolean => {
  const stage = STAGES[code ?? -1]
  return stage !== undefined && !WITHOUT_KERNEL.includes(stage)
}

/** How far a record may lie beside the span of its stage, where launches have gaps between them. */
const SLACK_NS = 50_000
/** Within how much the two clocks must be known: one kernel taken for another would contradict more. */
const APART_NS = 10_000

const CASES: readonly Partial<EngineConfig>[] = [
  {},
  { graph: true },
  { comm: 'a2a', graph: true, restOfLayerBytes: 1 << 20 },
  { ranks: 1, graph: true },
  { comm: 'p2p', graph: true },
  { topk: 64, kvDtype: 'fp8_ds_mla', comm: 'a2a' },
  { kvLoraRank: 128, ropeDim: 32, pageSize: 8, graph: true },
  { captureSteps: [4], captureLayers: [1], graph: true },
  { observer: true, graph: true },
  { lseType: 'bf16', lseLayout: '[H,T]', graph: true },
  { draft: true, qLen: 2, graph: true, captureSteps: [4], captureLayers: [1, 2] },
  { draft: true, qLen: 2, comm: 'a2a', topk: 64 },
  { kvHeads: 4, headDim: 64, lseLayout: '[H,T]', captureSteps: [4], captureLayers: [1] },
]

describe.skipIf(skipped || problem !== '')(SUITE, () => {
  for (const over of CASES)
    it(`lie beside their stages (${JSON.stringify(over)})`, async () => {
      const config = onGpu(over)
      const run = await finish(config)
      expect(run.dropped).toBe(0)
      const events = rowsOf(run.chunks, 'events', -1).filter(
        ({ kind }) => kind === EVENT_KINDS.indexOf('kernels_recorded'),
      )
      expect(events.map(({ step }) => step)).toEqual(RECORDED)
      for (const { limit } of events) expect(limit).toBeLessThan(APART_NS)
      expect(column(run.chunks, 'steps', -1, 'kernel_trace')).toEqual(
        Array.from({ length: STEPS }, (_, step) => (RECORDED.includes(step) ? 1 : 0)),
      )
      for (let rank = 0; rank < config.ranks; rank++) {
        const kernels = rowsOf(run.chunks, 'kernels', rank)
        expect(new Set(kernels.map((row) => row.step))).toEqual(new Set(RECORDED))
        expect(namesOf(run, rank).every((name) => name.length > 3)).toBe(true)
        expect(namesOf(run, rank).some((name) => name.includes('dcpscope::cuda::'))).toBe(true)
        const spans = rowsOf(run.chunks, 'spans', rank).filter(
          ({ step, stage }) => RECORDED.includes(step ?? -1) && needsKernel(stage),
        )
        // A draft and the model have metadata each, of the same step and of no layer.
        const alike = (a: (typeof spans)[number], b: (typeof spans)[number]): boolean =>
          a.step === b.step && a.layer === b.layer && a.stage === b.stage
        const lieBeside = (kernel: (typeof spans)[number], span: (typeof spans)[number]): boolean => {
          const [start, end] = [Number(span.start_ns), Number(span.start_ns) + Number(span.dur_ns)]
          return Number(kernel.start_ns) > start - SLACK_NS && Number(kernel.start_ns) < end + SLACK_NS
        }
        for (const span of spans) {
          const where = `${STAGES[span.stage ?? 0]} of rank ${rank}`
          const own = kernels.filter((kernel) => alike(kernel, span))
          const places = spans.filter((other) => alike(other, span))
          expect(
            own.some((kernel) => lieBeside(kernel, span)),
            where,
          ).toBe(true)
          for (const kernel of own) {
            expect(
              places.some((place) => lieBeside(kernel, place)),
              where,
            ).toBe(true)
            expect(kernel.dur_ns).toBeGreaterThan(0)
            expect(kernel.graph).toBe(config.graph ? 1 : 0)
            if (kernel.bytes === -1)
              for (const name of ['grid_x', 'block_x', 'registers']) expect(kernel[name]).toBeGreaterThan(0)
          }
        }
      }
    })

  it('are the same kernels eager and in a replay', async () => {
    // A number of requests that no replay pads.
    const contextLens = [0, 65, 130, 5000]
    const [eager, replayed] = [
      await finish(onGpu({ contextLens })),
      await finish(onGpu({ contextLens, graph: true })),
    ]
    expect(namesOf(replayed, 2)).toEqual(namesOf(eager, 2))
  })
})

const eventsSchema = z.array(z.strictObject({ message: z.string(), detail: z.string() })).length(1)

const configOf = (engine: object): string =>
  configFile({ model: { preset: 'tiny' }, workload: { steps: 4 }, engine: { device: 'cuda', ...engine } })

const newBundle = (): string => join(freshFolder(), 'run.dcp')

afterEach(() => {
  delete process.env.DCPSCOPE_CUPTI
})

describe.skipIf(skipped || problem !== '')('a run that records kernels', () => {
  it.each([false, true])('keeps them and says what it cost (graph: %s)', async (graph) => {
    const bundle = newBundle()
    const config = configOf({ graph, kernelTrace: 'last' })
    const { code, stdout, stderr } = await dcpscope(['run', config, '--out', bundle, '--json'])
    expect([code, stderr]).toEqual([0, ''])
    const { kernelTrace, steps } = JSON.parse(stdout)
    expect(steps).toBe(4)
    expect(kernelTrace).toMatchObject({ steps: 1, counted: false })
    for (const name of ['kernels', 'recordedUs', 'plainUs']) expect(kernelTrace[name]).toBeGreaterThan(0)
    expect(manifestOf(bundle).kernelNote).toBeUndefined()
    const events = "select message, detail from events where kind = 'kernels_recorded'"
    const [event] = eventsSchema.parse(await query(bundle, events))
    process.stdout.write(`${graph ? 'graph' : 'eager'}: ${event?.message} ${JSON.stringify(kernelTrace)}\n`)
    expect(JSON.parse(event?.detail ?? '{}').limit).toBeLessThan(APART_NS)
  })
})

describe.skipIf(skipped)('a run that would record kernels on a machine without CUPTI', () => {
  it('goes on, and one line in events and manifest says what to install', async () => {
    process.env.DCPSCOPE_CUPTI = '/not/there/libcupti.so'
    const bundle = newBundle()
    const { code, stdout } = await dcpscope([
      'run',
      configOf({ kernelTrace: [1, 2] }),
      '--out',
      bundle,
      '--json',
    ])
    expect(code).toBe(0)
    const line = /^[^\n]*CUPTI is missing[^\n]*install the package cuda-cupti[^\n]*$/
    expect(JSON.parse(stdout)).toMatchObject({ steps: 4, kernelNote: expect.stringMatching(line) })
    expect(manifestOf(bundle)).toMatchObject({ kernelNote: expect.stringMatching(line) })
    expect(await query(bundle, "select message from events where kind = 'kernels_not_recorded'")).toEqual([
      { message: expect.stringMatching(line) },
    ])
    expect(await query(bundle, 'select count(*)::int as n from kernels')).toEqual([{ n: 0 }])
    expect(await query(bundle, 'select count(*)::int as n from steps where kernel_trace')).toEqual([{ n: 0 }])
  })
})
