import { describe, expect, it, vi } from 'vitest'
import type { EngineConfig } from '../../app/run/engine-config.ts'
import { STAGES } from '../../app/trace/stages.ts'
import { addon, captureOf, finish, rowsOf } from '../native/engine.ts'
import {
  capturesOf,
  errorsOf,
  filled,
  type Placing,
  type Recorded,
  runRanks,
  startRanks,
  timeless,
} from '../native/rank-processes.ts'
import {
  configFile,
  dcpscope,
  freshFolder,
  manifestOf,
  query,
  recording,
  type Setting,
  start,
} from '../unit/cli/dcpscope.ts'
import { bytesOf, EXACT, expectAgreement } from './agreement.ts'
import { gpuConfig } from './config.ts'
import { skipReason } from './program.ts'

const SUITE = 'the tests of ranks in processes on GPUs'
const skipped = skipReason(SUITE) !== undefined

/** Why ranks cannot have a GPU each here; undefined where they can. */
const whyNoPair = (): string | undefined => {
  if (skipped) return 'there is no GPU'
  const { devices } = addon.cuda()
  if (devices.length < 2) return `they need two GPUs, this machine has ${devices.length}`
  return undefined
}
const noPair = whyNoPair()
const nccl = skipped ? undefined : addon.cuda().nccl
const noNccl = noPair ?? (nccl?.available === true ? undefined : (nccl?.reason ?? 'NCCL was not looked for'))
const noPeers =
  noPair ?? (addon.cuda().devices[0]?.peers?.includes(1) === true ? undefined : 'GPUs 0 and 1 are no peers')
if (!skipped && noPair !== undefined)
  process.stderr.write(`THE TESTS OF RANKS ON SEVERAL GPUS ARE SKIPPED: ${noPair}\n`)
else if (!skipped && noNccl !== undefined)
  process.stderr.write(`THE TESTS OF RANKS THAT EXCHANGE BY NCCL ARE SKIPPED: ${noNccl}\n`)

// Processes that share a GPU get turns on it, and each of them loads the engine.
vi.setConfig({ testTimeout: 120_000 })

const STEPS = 4
const CONTEXTS = [0, 1, 63, 64, 130, 5000]

const onGpus = (over: Partial<EngineConfig> = {}): EngineConfig =>
  gpuConfig({
    ranks: 2,
    comm: 'p2p',
    contextLens: CONTEXTS,
    shuffledPages: true,
    steps: STEPS,
    acceptedPerStep: over.qLen ?? 1,
    checkRows: -2,
    captureSteps: [STEPS - 1],
    captureLayers: [1],
    ...over,
  })

const nameOf = (c: EngineConfig): string =>
  `${c.comm}, dcp ${c.ranks}, ${c.graph ? 'graph' : 'eager'}, ${c.kvDtype}, wire ${c.wireFp32 ? 'fp32' : 'out'}, ` +
  `${c.replicateQ ? 'replicated q' : 'gathered q'}, q_len ${c.qLen}, topk ${c.topk}, ${c.observer ? 'observed' : 'plain'}`

const tableOf = (ranks: readonly Recorded[], table: string, rank: number): Record<string, string>[] =>
  ranks[Math.max(rank, 0)]?.tables[`${table} ${rank}`] ?? []

const numberIn = (row: Record<string, string>, name: string): number => Number(row[name])

/** Stages of a rank in order, but for those that only last for some time where the kernel before them has ended. */
const stagesOf = (spans: readonly Record<string, unknown>[]): string[] =>
  spans
    .map(({ step, layer, stage }) => `${step} ${layer} ${STAGES[Number(stage)]}`)
    .filter((one) => !one.endsWith('split_combine'))

/** Spans of a rank follow each other, and those of a collective belong together, on one clock. */
const expectSoundSpans = (ranks: readonly Recorded[], uncertaintyNs: number): void => {
  const bySeq = new Map<string, Record<string, string>[]>()
  ranks.forEach((_, rank) => {
    let end = Number.NEGATIVE_INFINITY
    for (const span of tableOf(ranks, 'spans', rank)) {
      if (STAGES[numberIn(span, 'stage')] === 'graph_replay') continue
      expect(numberIn(span, 'start_ns')).toBeGreaterThanOrEqual(end)
      end = numberIn(span, 'start_ns') + numberIn(span, 'dur_ns')
      const seq = span.collective_seq ?? '-1'
      if (seq !== '-1') bySeq.set(seq, [...(bySeq.get(seq) ?? []), span])
    }
  })
  expect(bySeq.size).toBeGreaterThan(0)
  for (const spans of bySeq.values()) {
    expect(spans).toHaveLength(ranks.length)
    expect(new Set(spans.map(({ step, layer, stage }) => `${step} ${layer} ${stage}`)).size).toBe(1)
    const last = Math.max(...spans.map((span) => numberIn(span, 'enter_ns')))
    for (const span of spans) {
      const end = numberIn(span, 'start_ns') + numberIn(span, 'dur_ns')
      expect(numberIn(span, 'enter_ns')).toBe(numberIn(span, 'start_ns'))
      expect(numberIn(span, 'last_enter_ns')).toBe(Math.min(last, end))
      // Nothing leaves before all have come, within what the clocks allow.
      expect(end + 2 * uncertaintyNs).toBeGreaterThan(last)
    }
  }
}

/**
 * Runs a configuration with a process for each rank, in turn in one process, and on the CPU. `exact`: transports add in one
 * order, so merged output is the same to the bit.
 */
const expectSame = async (config: EngineConfig, placing: Placing, exact = true): Promise<void> => {
  const ranks = await runRanks(config, { ...placing, keep: true })
  const inTurn = await finish(config)
  const processes = { captures: capturesOf(ranks) }
  expect(ranks.map(({ dropped }) => dropped)).toEqual(ranks.map(() => 0))
  for (let rank = 0; rank < config.ranks; rank++) {
    const [own, other] = [captureOf(processes, rank), captureOf(inTurn, rank)]
    const names = [...EXACT, 'out_kernel', 'lse_kernel', 'out', 'lse', ...(exact ? ['merged'] : [])]
    for (const name of names)
      expect(bytesOf(own, name).equals(bytesOf(other, name)), `${name} of rank ${rank}`).toBe(true)
    const rows = timeless(rowsOf(inTurn.chunks, 'rows', rank))
    expect(timeless(tableOf(ranks, 'rows', rank))).toEqual(rows)
    expect(timeless(tableOf(ranks, 'pages', rank))).toEqual(timeless(rowsOf(inTurn.chunks, 'pages', rank)))
    const wanted = stagesOf(rowsOf(inTurn.chunks, 'spans', rank))
    expect(stagesOf(tableOf(ranks, 'spans', rank))).toEqual(wanted)
  }
  expectAgreement(
    processes,
    await finish({ ...config, device: 'cpu', graph: false, observer: false }),
    config,
  )
  const steps = tableOf(ranks, 'steps', -1)
  expect(steps).toHaveLength(STEPS)
  for (const step of steps) {
    expect(numberIn(step, 'checked_rows')).toBeGreaterThan(0)
    expect(numberIn(step, 'max_rel_err')).toBeLessThan(1e-2)
    expect(numberIn(step, 'wall_ns')).toBeGreaterThan(0)
    if (config.observer) expect(numberIn(step, 'untraced_ns')).toBeGreaterThan(0)
  }
  expect(ranks[0]?.facts?.alignment).toContain('each rank has a process')
  expectSoundSpans(ranks, Math.max(...ranks.map(({ facts }) => facts?.uncertaintyNs ?? 0)))
}

const LONG = { contextLens: [20_000, 300], steps: 100_000, captureSteps: [], checkRows: 0 }

const STAGE =
  '(the [a-z ]+ of step \\d+|the pause between steps|its start|[a-z_]+ of (layer \\d+, )?step \\d+)'

/** One rank gets a signal at some moment; what the others say names it, and all of them end. */
const expectLost = async (
  config: EngineConfig,
  signal: 'SIGKILL' | 'SIGSTOP',
  placing: Placing = {},
): Promise<void> => {
  const scene = startRanks(config, placing)
  await Promise.all(scene.children.map(filled))
  await new Promise((next) => setTimeout(next, 1000 + Math.random() * 1000))
  const lost = scene.children[1]
  lost?.kill(signal)
  scene.children[0]?.on('close', () => lost?.kill('SIGKILL'))
  const said = await errorsOf(scene)
  process.stdout.write(`${nameOf(config)}, ${signal}: ${said.join(' | ')}\n`)
  expect(said.length).toBe(config.ranks - 1)
  for (const one of said)
    expect(one).toMatch(
      new RegExp(
        `^ERR_(ABSENT: rank 1 did not come to ${STAGE} within 5 s; it is in ${STAGE}|ABANDONED: another rank has ended the run)$`,
      ),
    )
  expect(said.some((one) => one.startsWith('ERR_ABSENT'))).toBe(true)
}

describe.skipIf(skipped)('ranks in processes that share a GPU', () => {
  const cases: readonly Partial<EngineConfig>[] = [
    {},
    { graph: true },
    { graph: true, ranks: 4, qLen: 2, replicateQ: true, lseBase: '2' },
    { kvDtype: 'fp8_ds_mla', topk: 64, interleave: 4, heads: 32 },
    { kvDtype: 'fp8', emptyRow: 'nan', observer: true, graph: true, layers: 3 },
    { kvLoraRank: 128, ropeDim: 32, pageSize: 8, warmup: 0 },
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

  it('name stage and rank of a kernel that hangs', async () => {
    const said = await errorsOf(
      startRanks(onGpus(LONG), { env: { DCPSCOPE_TEST_FAULT: 'decode_attn:1:3:hang' } }),
    )
    process.stdout.write(`${said.join(' | ')}\n`)
    expect(said).toHaveLength(2)
    const absent =
      /^ERR_ABSENT: rank 1 did not come to merge of layer 0, step 3 within 5 s; it is in decode_attn/
    const still = /^ERR_ENGINE: the GPU of rank 1 stands still in decode_attn of layer 0, step 3$/
    expect(said.some((one) => absent.test(one) || still.test(one))).toBe(true)
    for (const one of said) expect(one).toMatch(/^ERR_(ABSENT: rank 1|ENGINE: the GPU of rank 1|ABANDONED)/)
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
    if (nccl?.available === true)
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

const newBundle = (): string => `${freshFolder()}/run.dcp`

const onCommandLine = (over: {
  readonly comm: string
  readonly graph?: boolean
  readonly steps?: number
}): string =>
  configFile({
    model: { preset: 'tiny' },
    parallel: { tpSize: 2, dcpSize: 2, comm: over.comm },
    engine: { device: 'cuda', ranks: 'processes', graph: over.graph ?? false },
    workload: { steps: over.steps ?? 24 },
    capture: { steps: 'none' },
  })

/** A machine that has one GPU as far as the command can see. */
const ONE: Setting = { env: { CUDA_VISIBLE_DEVICES: process.env.CUDA_VISIBLE_DEVICES?.split(',')[0] ?? '0' } }

/** Runs to its end, checks itself and says where each rank ran. */
const expectRun = async (comm: string, graph: boolean, setting?: Setting): Promise<void> => {
  const bundle = newBundle()
  const { code, stdout, stderr } = await dcpscope(
    ['run', onCommandLine({ comm, graph }), '--out', bundle, '--json'],
    setting,
  )
  expect([code, stderr]).toEqual([0, ''])
  expect(JSON.parse(stdout)).toMatchObject({
    device: 'cuda',
    ranks: 2,
    dropped: 0,
    check: { ok: true, nanRows: 0 },
  })
  const { emulated, processes, clock } = manifestOf(bundle)
  expect(emulated).toBeUndefined()
  expect(processes?.map(({ rank }) => rank)).toEqual([0, 1])
  expect(clock.alignment).toContain('globaltimer')
}

/** One rank is killed at some moment of a run. */
const expectKilled = async (
  comm: string,
  graph: boolean,
  signal: 'SIGKILL' | 'SIGSTOP',
  setting?: Setting,
): Promise<void> => {
  const bundle = newBundle()
  const running = start(['run', onCommandLine({ comm, graph, steps: 1_000_000 }), '--out', bundle], setting)
  await recording(bundle, running)
  const rank = Math.floor(Math.random() * 2)
  await new Promise((next) => setTimeout(next, Math.random() * 500))
  process.kill(manifestOf(bundle).processes?.[rank]?.pid ?? 0, signal)
  const begun = performance.now()
  const { code, stderr } = await running.outcome
  process.stdout.write(
    `${comm}, ${signal}, after ${((performance.now() - begun) / 1000).toFixed(1)} s: ${stderr}`,
  )
  expect(code).toBe(3)
  expect(stderr).toMatch(
    new RegExp(
      `^dcpscope: rank ${rank} (of 2 (died \\(${signal}[^)]*\\)|has not answered for 4 s), last in ${STAGE}|did not come to ${STAGE} within 5 s; it is in ${STAGE}); what was recorded[^\\n]*\\n$`,
    ),
  )
  expect(manifestOf(bundle).status).toMatch(/^(interrupted|failed)$/)
  const steps = await query(bundle, 'select count(*)::int as n from steps')
  expect(Array.isArray(steps) ? steps[0]?.n : 0).toBeGreaterThan(0)
}

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

const PAIR: Placing = { gpus: [0, 1] }

describe.skipIf(noPeers !== undefined)('ranks with a GPU each that read each other by p2p', () => {
  for (const over of [
    {},
    { graph: true },
    { graph: true, replicateQ: true, qLen: 2 },
    { topk: 64, graph: true },
  ]) {
    const config = onGpus(over)
    it(`compute what ranks in turn compute (${nameOf(config)})`, () => expectSame(config, PAIR))
  }

  for (const signal of ['SIGKILL', 'SIGSTOP'] as const)
    it(`lose one and end (${signal})`, () => expectLost(onGpus({ ...LONG, graph: true }), signal, PAIR))

  it.each([false, true])('run from the command line (graph: %s)', (graph) => expectRun('p2p', graph))
})

describe.skipIf(noNccl !== undefined)('ranks with a GPU each that exchange by NCCL', () => {
  const variants: readonly Partial<EngineConfig>[] = [
    { comm: 'ag_rs' },
    { comm: 'ag_rs', wireFp32: true },
    { comm: 'ag_rs', replicateQ: true, qLen: 2 },
    { comm: 'a2a' },
    { comm: 'a2a', wireFp32: true, replicateQ: true },
    { comm: 'a2a', kvDtype: 'fp8_ds_mla', topk: 64, observer: true },
  ]
  for (const over of variants)
    for (const graph of [false, true]) {
      const config = onGpus({ ...over, graph })
      // How NCCL rounds within a sum is its own affair.
      it(`compute what ranks in turn compute (${nameOf(config)})`, () =>
        expectSame(config, PAIR, config.comm === 'a2a'))
    }

  for (const comm of ['ag_rs', 'a2a'] as const)
    for (const graph of [false, true])
      for (const signal of ['SIGKILL', 'SIGSTOP'] as const)
        it(`lose one and end (${comm}, ${signal}, ${graph ? 'graph' : 'eager'})`, () =>
          expectLost(onGpus({ ...LONG, comm, graph }), signal, PAIR))

  it.each(['ag_rs', 'a2a'])('run from the command line (%s)', (comm) => expectRun(comm, true))

  it.each(['ag_rs', 'a2a'])('end when a rank is killed in a run from the command line (%s)', (comm) =>
    expectKilled(comm, true, 'SIGKILL'),
  )
})
