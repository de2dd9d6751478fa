/**
 * An engine host of the app that records a few steps with the real engine, and then sends them again and again, as so many
 * steps a second as DCPSCOPE_BENCH_STEPS_PER_S says; without it the real engine runs. It goes through the product's own
 * driver, and counts what goes to the store into the file DCPSCOPE_BENCH_TALLY.
 */
import { writeFileSync } from 'node:fs'
import type { EngineEvent } from '../../../app/protocol/engine.ts'
import type { NativeChunk, NativeRun } from '../../../main/engine/addon.ts'
import type { RunEngine } from '../../../main/engine/driver.ts'
import { createEngineHost } from '../../../main/engine/engine-host.ts'
import { loadAddon } from '../../../main/engine/load-addon.ts'
import { messageType, parentPort } from '../../../main/process/parent-port.ts'
import { type ElectronPort, electronPort, type Port } from '../../../main/process/port.ts'

const RECORDED_STEPS = 24
/** Steps that are sent at once at most where the machine had no time before: more would keep the process from answering. */
const CATCH_UP_STEPS = 4 * RECORDED_STEPS
const DRAIN_BYTES = 1 << 19
const TIMES = ['start_ns', 'enter_ns', 'last_enter_ns', 'time_ns']
const TALLY_MS = 1000

/** Runs the steps once. */
const recorded = async (run: NativeRun): Promise<readonly NativeChunk[]> => {
  const chunks: NativeChunk[] = []
  while ((await run.fill(1000)) < 1);
  for (let finished = false; !finished; ) {
    finished = (await run.advance(RECORDED_STEPS, 1000, 0)).finished
    for (let more = run.drain(DRAIN_BYTES); more.length > 0; more = run.drain(DRAIN_BYTES))
      chunks.push(...more)
  }
  return chunks
}

const endOf = (chunks: readonly NativeChunk[]): number =>
  Math.max(
    ...chunks.map(
      ({ columns: { start_ns = [], wall_ns = [] }, rows }) =>
        Number(start_ns[rows - 1] ?? 0) + Number(wall_ns[rows - 1] ?? 0),
    ),
  )

/** The chunk as it would be `steps` steps and `ns` later. */
const later = (chunk: NativeChunk, steps: number, ns: number): NativeChunk => ({
  ...chunk,
  columns: Object.fromEntries(
    Object.entries(chunk.columns).map(([name, column]) => {
      if (name === 'step' && column instanceof Int32Array) return [name, column.map((step) => step + steps)]
      if (TIMES.includes(name) && column instanceof BigInt64Array)
        return [name, column.map((time) => (time < 0n ? time : time + BigInt(ns)))]
      return [name, column]
    }),
  ),
})

const replayed = (real: NativeRun, steps: number, stepsPerSecond: number): NativeRun => {
  let chunks: readonly NativeChunk[] = []
  const ready: NativeChunk[] = []
  let done = 0
  let began: number | undefined
  return {
    ...real,
    fill: async () => {
      chunks = await recorded(real)
      return 1
    },
    advance: async (_most, ms) => {
      began ??= performance.now()
      await new Promise((resolve) => setTimeout(resolve, ms))
      const due = ((performance.now() - began) / 1000) * stepsPerSecond
      const round = endOf(chunks)
      const most = Math.min(steps, due, done + CATCH_UP_STEPS)
      for (; done + RECORDED_STEPS <= most; done += RECORDED_STEPS)
        ready.push(...chunks.map((chunk) => later(chunk, done, (done / RECORDED_STEPS) * round)))
      return { stepsDone: done, finished: done + RECORDED_STEPS > steps, ringsFull: false }
    },
    drain: () => ready.splice(0),
    takeCaptures: () => [],
    dropped: () => 0,
    facts: () => real.facts(),
    cancel: () => {},
    dispose: () => real.dispose(),
  }
}

const replaying = (addon: RunEngine, stepsPerSecond: number): RunEngine => ({
  version: addon.version,
  cpu: () => addon.cpu(),
  cuda: () => addon.cuda(),
  predictMemory: (config) => addon.predictMemory(config),
  createRun: (config) =>
    replayed(
      addon.createRun({ ...config, steps: RECORDED_STEPS, captureSteps: [] }),
      config.steps,
      stepsPerSecond,
    ),
})

/** Counts rows and bytes on their way to the store. */
const counted = (port: Port, file: string): Port => {
  const tally = { ms: 0, steps: 0, rows: 0, bytes: 0, mostStepsPerSecond: 0 }
  let began: number | undefined
  let last = { at: performance.now(), steps: 0 }
  const timer = setInterval(() => {
    const now = { at: performance.now(), steps: tally.steps }
    const rate = ((now.steps - last.steps) * 1000) / (now.at - last.at)
    tally.mostStepsPerSecond = Math.max(tally.mostStepsPerSecond, rate)
    last = now
    writeFileSync(file, JSON.stringify(tally))
  }, TALLY_MS)
  port.onClose(() => clearInterval(timer))
  return {
    ...port,
    post: (message) => {
      const sent = message as { type: string; bytes: number; chunk: NativeChunk }
      if (sent.type === 'chunk') {
        began ??= performance.now()
        tally.ms = performance.now() - began
        tally.rows += sent.chunk.rows
        tally.bytes += sent.bytes
        if (sent.chunk.table === 'steps') tally.steps += sent.chunk.rows
      }
      port.post(message)
    },
  }
}

const parent = parentPort<EngineEvent>()
if (parent === undefined) throw new Error('the engine host of the benchmark is started by the app')
const addon = loadAddon(__dirname)
const stepsPerSecond = Number(process.env.DCPSCOPE_BENCH_STEPS_PER_S ?? 0)
const tallyFile = process.env.DCPSCOPE_BENCH_TALLY ?? ''
const host = createEngineHost(
  stepsPerSecond > 0 ? replaying(addon, stepsPerSecond) : addon,
  (event) => parent.postMessage(event),
  (sentence) => process.stderr.write(`${sentence}\n`),
)
const connect = (port: ElectronPort): void => host.connectStore(counted(electronPort(port), tallyFile))
parent.on('message', ({ data, ports }) => {
  const [port] = ports
  if (messageType(data) === 'store-port' && port !== undefined) connect(port)
  else host.command(data)
})
const { cores, simd, memoryAvailableBytes } = addon.cpu()
parent.postMessage({
  type: 'ready',
  version: addon.version,
  cores,
  simd,
  memoryAvailableBytes,
  cuda: addon.cuda(),
})
