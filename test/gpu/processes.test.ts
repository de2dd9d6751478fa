import { describe, expect, it } from 'vitest'
import type { EngineConfig } from '../../app/run/engine-config.ts'
import { addon, captureOf, finish } from '../native/engine.ts'
import { capturesOf, errorsOf, runRanks, startRanks } from '../native/rank-processes.ts'
import { manifestOf, query, recording, start } from '../unit/cli/dcpscope.ts'
import { bytesOf } from './agreement.ts'
import { skipReason } from './program.ts'
import {
  expectKilled,
  expectLost,
  expectRun,
  expectSame,
  LONG,
  nameOf,
  newBundle,
  ONE,
  onCommandLine,
  onGpus,
  stagesOf,
} from './rank-cases.ts'

const SUITE = 'the tests of ranks in processes that share a GPU'
const skipped = skipReason(SUITE) !== undefined

describe.skipIf(skipped)(SUITE, () => {
  const cases: readonly Partial<EngineConfig>[] = [
    {},
    { graph: true },
    { graph: true, ranks: 4, qLen: 2, replicateQ: true, lseBase: '2' },
    { kvDtype: 'fp8_ds_mla', topk: 64, interleave: 4, heads: 32 },
    { kvDtype: 'fp8', emptyRow: 'nan', observer: true, graph: true, layers: 3 },
    { kvLoraRank: 128, ropeDim: 32, pageSize: 8, warmup: 0 },
    { kvHeads: 4, headDim: 128, qLen: 2, graph: true },
    { lseLayout: '[H,T]', paddedHeads: 64, qLen: 2 },
    { restarts: true, interleave: 2, pageSize: 16, qLen: 2, graph: true },
    { draft: true, qLen: 2, replicateQ: true, captureLayers: [2] },
    { draft: true, qLen: 3, layers: 3, graph: true, observer: true, captureLayers: [0] },
    { draft: true, qLen: 2, ranks: 4, topk: 64, graph: true, captureLayers: [2] },
  ]
  for (const over of cases) {
    const config = onGpus(over)
    it(`compute what ranks in turn compute, and the CPU (${nameOf(config)})`, () => expectSame(config, {}))
  }

  it('have a rank alone, which meets nobody', async () => {
    const config = onGpus({ ranks: 1, graph: true })
    const [alone] = await runRanks(config, { keep: true })
    const other = captureOf(await finish(config), 0)
    const own = captureOf({ captures: capturesOf(alone === undefined ? [] : [alone]) }, 0)
    expect(bytesOf(own, 'merged').equals(bytesOf(other, 'merged'))).toBe(true)
  })

  for (const signal of ['SIGKILL', 'SIGSTOP'] as const)
    for (const graph of [false, true])
      it(`lose one and end (${signal}, ${graph ? 'graph' : 'eager'})`, () =>
        expectLost(onGpus({ ...LONG, graph }), signal))

  it('lose one that drafts and end', () =>
    expectLost(onGpus({ ...LONG, draft: true, qLen: 2, graph: true }), 'SIGSTOP'))

  it('name stage and rank of a kernel that hangs', async () => {
    const scene = startRanks(onGpus(LONG), { env: { DCPSCOPE_TEST_FAULT: 'decode_attn:1:3:hang' } })
    const said = await errorsOf(scene)
    process.stdout.write(`${said.join(' | ')}\n`)
    expect(said).toHaveLength(2)
    const absent =
      /^ERR_ABSENT: rank 1 did not come to merge of layer 0, step 3 within \d+ s; it is in decode_attn/
    const still = /^ERR_ENGINE: the GPU of rank 1 stands still in decode_attn of layer 0, step 3$/
    expect(said.some((one) => absent.test(one) || still.test(one))).toBe(true)
    for (const one of said) expect(one).toMatch(/^ERR_(ABSENT: rank 1|ENGINE: the GPU of rank 1|ABANDONED)/)
    // What the other one had done of that step, up to where it waited.
    const [waited] = await scene.recorded
    const last = (waited?.tables['spans 0'] ?? []).filter(({ step }) => step === '3')
    expect(stagesOf(last).map((one) => one.split(' ')[2])).toEqual([
      ...['metadata', 'q_all_gather', 'kv_append', 'decode_attn', 'neutralize'],
    ])
  })

  it('name stage and rank of a kernel that fails', async () => {
    const said = await errorsOf(startRanks(onGpus(LONG), { env: { DCPSCOPE_TEST_FAULT: 'decode_attn:1:3' } }))
    process.stdout.write(`${said.join(' | ')}\n`)
    expect(said).toContainEqual(
      expect.stringMatching(/^ERR_DEVICE: the GPU failed in decode_attn of rank 1, layer 0, step 3: /),
    )
    expect(said.filter((one) => one.startsWith('ERR_ABANDONED'))).toHaveLength(1)
  })

  it('are refused in one line by NCCL, or where there is no such GPU', async () => {
    const missing = await errorsOf(
      startRanks(onGpus({ comm: 'a2a' }), { env: { DCPSCOPE_NCCL: '/nowhere/libnccl.so' } }),
    )
    expect(missing[0]).toMatch(
      /^ERR_ENGINE: NCCL is missing \(DCPSCOPE_NCCL names \/nowhere[^\n]*install[^\n]*$/,
    )
    if (addon.cuda().nccl?.available === true)
      expect(await errorsOf(startRanks(onGpus({ comm: 'ag_rs' }), { gpus: [0, 0] }))).toContainEqual(
        'ERR_ENGINE: NCCL needs a GPU for each rank: rank 0 and rank 1 share one; use p2p or fewer ranks',
      )
    const count = addon.cuda().devices.length
    const elsewhere = await errorsOf(startRanks(onGpus({ ranks: 1 }), { gpus: [count] }))
    expect(elsewhere).toEqual([
      `ERR_ENGINE: there is no GPU ${count}: this machine has ${count}, counted from 0`,
    ])
  })
})

describe.skipIf(skipped)('dcpscope run --ranks processes on one GPU', () => {
  it.each([false, true])('runs p2p (graph: %s)', (graph) => expectRun('p2p', graph, ONE))

  it.each([
    ['SIGKILL', false],
    ['SIGKILL', true],
    ['SIGSTOP', true],
  ] as const)('ends when a rank gets %s, with its name and stage (graph: %s)', (signal, graph) =>
    expectKilled('p2p', graph, signal, ONE),
  )

  it('is stopped by Ctrl-C', async () => {
    const bundle = newBundle()
    const config = onCommandLine({ comm: 'p2p', graph: true, steps: 1_000_000 })
    const running = start(['run', config, '--out', bundle], ONE)
    await recording(bundle, running)
    running.child.kill('SIGINT')
    expect((await running.outcome).code).toBe(130)
    expect(manifestOf(bundle).status).toBe('stopped')
    const perRank = 'select rank, count(distinct step)::int as n from spans group by all order by 1'
    const counts = await query(bundle, perRank)
    if (!Array.isArray(counts)) throw new Error('no counts')
    expect(new Set(counts.map(({ n }) => n)).size).toBe(1)
  })
})
