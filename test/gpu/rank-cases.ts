import { expect, vi } from 'vitest'
import type { EngineConfig } from '../../app/run/engine-config.ts'
import { STAGES } from '../../app/trace/stages.ts'
import { captureOf, finish, rowsOf } from '../native/engine.ts'
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
import { bytesOf, exactOf, expectAgreement } from './agreement.ts'
import { gpuConfig } from './config.ts'

/** What ranks in processes on GPUs have to do, on however many. */

// Processes that share a GPU get turns on it, and each of them loads the engine.
vi.setConfig({ testTimeout: 120_000 })

const STEPS = 4
const CONTEXTS = [0, 1, 63, 64, 130, 5000]

export const onGpus = (over: Partial<EngineConfig> = {}): EngineConfig =>
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

export const nameOf = (c: EngineConfig): string =>
  `${c.comm}, dcp ${c.ranks}, ${c.kvHeads > 0 ? `${c.kvHeads} KV heads of ${c.headDim}` : 'MLA'}, lse ${c.lseType} ${c.lseLayout}, ${c.graph ? 'graph' : 'eager'}, ${c.kvDtype}, wire ${c.wireFp32 ? 'fp32' : 'out'}, ` +
  `${c.replicateQ ? 'replicated q' : 'gathered q'}, q_len ${c.qLen}, topk ${c.topk}, ${c.observer ? 'observed' : 'plain'}${c.restarts ? ', dealt out anew' : ''}${c.draft ? `, draft, layer ${c.captureLayers}` : ''}`

const tableOf = (ranks: readonly Recorded[], table: string, rank: number): Record<string, string>[] =>
  ranks[Math.max(rank, 0)]?.tables[`${table} ${rank}`] ?? []

const numberIn = (row: Record<string, string>, name: string): number => Number(row[name])

/** Stages of a rank in order, but for those that only last for some time where the kernel before them has ended. */
export const stagesOf = (spans: readonly Record<string, unknown>[]): string[] =>
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
export const expectSame = async (config: EngineConfig, placing: Placing, exact = true): Promise<void> => {
  const ranks = await runRanks(config, { ...placing, keep: true })
  const inTurn = await finish(config)
  const processes = { captures: capturesOf(ranks) }
  expect(ranks.map(({ dropped }) => dropped)).toEqual(ranks.map(() => 0))
  for (let rank = 0; rank < config.ranks; rank++) {
    const [own, other] = [captureOf(processes, rank), captureOf(inTurn, rank)]
    const names = [...exactOf(config), 'out_kernel', 'lse_kernel', 'out', 'lse', ...(exact ? ['merged'] : [])]
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

export const LONG = { contextLens: [20_000, 300], steps: 100_000, captureSteps: [], checkRows: 0 }

export const STAGE =
  '(the [a-z ]+ of step \\d+|the pause between steps|its start|[a-z_]+ of (layer \\d+, )?step \\d+)'

/** One rank gets a signal at some moment; what the others say names it, and all of them end. */
export const expectLost = async (
  config: EngineConfig,
  signal: 'SIGKILL' | 'SIGSTOP',
  placing: Placing = {},
): Promise<void> => {
  const scene = startRanks(config, placing)
  await Promise.all(scene.children.map(filled))
  await new Promise((next) => setTimeout(next, 3000 + Math.random() * 1000))
  const lost = scene.children[1]
  lost?.kill(signal)
  scene.children[0]?.on('close', () => lost?.kill('SIGKILL'))
  const said = await errorsOf(scene)
  process.stdout.write(`${nameOf(config)}, ${signal}: ${said.join(' | ')}\n`)
  expect(said.length).toBe(config.ranks - 1)
  for (const one of said)
    expect(one).toMatch(
      new RegExp(
        `^ERR_(ABSENT: (rank 1 did not come to ${STAGE} within \\d+ s; it is in ${STAGE}|the connection of rank 1 to rank 0 broke .*)|ABANDONED: another rank has ended the run)$`,
      ),
    )
  expect(said.some((one) => one.startsWith('ERR_ABSENT'))).toBe(true)
}

export const newBundle = (): string => `${freshFolder()}/run.dcp`

export const onCommandLine = (over: {
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
export const ONE: Setting = {
  env: { CUDA_VISIBLE_DEVICES: process.env.CUDA_VISIBLE_DEVICES?.split(',')[0] ?? '0' },
}

/** Runs to its end, checks itself and says where each rank ran. */
export const expectRun = async (comm: string, graph: boolean, setting?: Setting): Promise<void> => {
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
export const expectKilled = async (
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
