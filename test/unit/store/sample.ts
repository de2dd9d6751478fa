import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TraceMessage, type TraceReply, traceReplySchema } from '../../../app/protocol/engine.ts'
import { type RunConfig, type RunConfigInput, runConfigSchema } from '../../../app/run/config.ts'
import type { Manifest } from '../../../app/trace/manifest.ts'
import { OUTER_STAGES, PROVENANCES, type Provenance, STAGES, type Stage } from '../../../app/trace/stages.ts'
import type { TraceChunk } from '../../../app/trace/tables.ts'
import { type Port, portPair } from '../../../main/process/port.ts'

/** A folder of one test, removed by `remove`. */
export interface Scratch {
  readonly path: string
  readonly remove: () => void
}

export const scratchFolder = (): Scratch => {
  const path = mkdtempSync(join(tmpdir(), 'dcpscope-store-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

export const sampleConfig = (input: RunConfigInput = {}): RunConfig =>
  runConfigSchema.parse({ parallel: { tpSize: 2, dcpSize: 2 }, ...input })

export const sampleManifest = (config: RunConfig = sampleConfig()): Manifest => ({
  format: 'dcpscope-run',
  formatVersion: 1,
  name: 'sample',
  status: 'running',
  config,
  devices: [{ name: 'test', kind: 'cpu', detail: 'none' }],
  versions: { dcpscope: '0.0.0' },
  clock: { base: '2026-01-01T00:00:00.000Z', alignment: 'one clock', uncertaintyNs: 0 },
  createdAt: new Date().toISOString(),
})

export interface SampleSpan {
  readonly start: number
  readonly dur: number
  readonly stage?: number
  readonly step?: number
  readonly layer?: number
  /** Number of the collective; the rank enters at its start and the last rank 5 ns later, or at `lastEnter`. */
  readonly collective?: number
  readonly lastEnter?: number
  readonly provenance?: Provenance
}

export const spanChunk = (rank: number, spans: readonly SampleSpan[]): TraceChunk => ({
  table: 'spans',
  rank,
  rows: spans.length,
  columns: {
    step: Int32Array.from(spans, (s) => s.step ?? 0),
    layer: Int32Array.from(spans, (s) => s.layer ?? 0),
    stage: Uint8Array.from(spans, (s) => s.stage ?? 0),
    stream: new Int32Array(spans.length),
    start_ns: BigInt64Array.from(spans, (s) => BigInt(s.start)),
    dur_ns: BigInt64Array.from(spans, (s) => BigInt(s.dur)),
    bytes: BigInt64Array.from(spans, (s) => BigInt(s.dur * 10)),
    flops: BigInt64Array.from(spans, (s) => BigInt(s.dur * 100)),
    collective_seq: Int32Array.from(spans, (s) => s.collective ?? -1),
    enter_ns: BigInt64Array.from(spans, (s) => (s.collective === undefined ? -1n : BigInt(s.start))),
    last_enter_ns: BigInt64Array.from(spans, (s) =>
      s.collective === undefined ? -1n : BigInt(s.lastEnter ?? s.start + 5),
    ),
    provenance: Uint8Array.from(spans, (s) => PROVENANCES.indexOf(s.provenance ?? 'measured')),
  },
})

/** `steps` consecutive steps of 1 ms with 4 tokens each, which kept the device busy for `deviceNs`. */
export const stepChunk = (
  from: number,
  steps: number,
  relErr: (step: number) => number,
  {
    provenance = 'measured',
    deviceNs = 1_000_000n,
    untracedNs = -1n,
    graph = false,
    kernelTrace = false,
  }: {
    provenance?: Provenance
    deviceNs?: bigint
    untracedNs?: bigint
    graph?: boolean
    kernelTrace?: boolean
  } = {},
): TraceChunk => {
  const numbers = Array.from({ length: steps }, (_, i) => from + i)
  return {
    table: 'steps',
    rank: -1,
    rows: steps,
    columns: {
      step: Int32Array.from(numbers),
      start_ns: BigInt64Array.from(numbers, (n) => BigInt(n * 1_000_000)),
      wall_ns: new BigInt64Array(steps).fill(1_000_000n),
      device_ns: new BigInt64Array(steps).fill(deviceNs),
      untraced_ns: new BigInt64Array(steps).fill(untracedNs),
      tokens: new Int32Array(steps).fill(4),
      tokens_per_s: new Float64Array(steps).fill(4000),
      max_abs_err: Float64Array.from(numbers, (n) => relErr(n) / 10),
      max_rel_err: Float64Array.from(numbers, relErr),
      checked_rows: new Int32Array(steps).fill(3),
      draft_proposed: new Int32Array(steps).fill(-1),
      draft_accepted: new Int32Array(steps).fill(-1),
      graph_replayed: new Uint8Array(steps).fill(graph ? 1 : 0),
      kernel_trace: new Uint8Array(steps).fill(kernelTrace ? 1 : 0),
      provenance: new Uint8Array(steps).fill(PROVENANCES.indexOf(provenance)),
    },
  }
}

export interface SampleKernel {
  readonly start: number
  readonly dur: number
  readonly name: string
  readonly stage: Stage
  readonly step: number
  readonly layer: number
  /** Of a copy, which has no grid. */
  readonly bytes?: number
  readonly provenance?: Provenance
}

/** Recorded kernels of 132 blocks of 384 threads, and copies, of one rank. */
export const kernelChunk = (rank: number, kernels: readonly SampleKernel[]): TraceChunk => {
  const i32 = (of: (kernel: SampleKernel) => number): Int32Array => Int32Array.from(kernels, of)
  const i64 = (of: (kernel: SampleKernel) => number): BigInt64Array =>
    BigInt64Array.from(kernels, (kernel) => BigInt(of(kernel)))
  const ofKernel = (value: number, none: number) => (kernel: SampleKernel) =>
    kernel.bytes === undefined ? value : none
  return {
    table: 'kernels',
    rank,
    rows: kernels.length,
    columns: {
      step: i32(({ step }) => step),
      layer: i32(({ layer }) => layer),
      stage: Uint8Array.from(kernels, ({ stage }) => STAGES.indexOf(stage)),
      name: kernels.map(({ name }) => name),
      start_ns: i64(({ start }) => start),
      dur_ns: i64(({ dur }) => dur),
      bytes: i64(({ bytes }) => bytes ?? -1),
      grid_x: i32(ofKernel(132, 0)),
      grid_y: i32(ofKernel(1, 0)),
      grid_z: i32(ofKernel(1, 0)),
      block_x: i32(ofKernel(384, 0)),
      block_y: i32(ofKernel(1, 0)),
      block_z: i32(ofKernel(1, 0)),
      registers: i32(ofKernel(168, -1)),
      shared_bytes: i32(ofKernel(229_376, -1)),
      stream: i32(() => 7),
      graph: new Uint8Array(kernels.length).fill(1),
      provenance: Uint8Array.from(kernels, ({ provenance }) => PROVENANCES.indexOf(provenance ?? 'measured')),
    },
  }
}

export const rowChunk = (rank: number, step: number, layer: number, requests: number): TraceChunk => {
  const numbers = Array.from({ length: requests }, (_, i) => i)
  const constant = (value: number): Int32Array => new Int32Array(requests).fill(value)
  return {
    table: 'rows',
    rank,
    rows: requests,
    columns: {
      step: constant(step),
      layer: constant(layer),
      request: Int32Array.from(numbers),
      q_index: constant(0),
      global_len: constant(100),
      local_len: constant(50),
      visible_keys: Int32Array.from(numbers, (n) => 50 * n),
      empty: Uint8Array.from(numbers, (n) => (n === 0 ? 1 : 0)),
      out_nan: Int32Array.from(numbers, (n) => (n === 1 ? 2 : 0)),
      out_inf: constant(0),
      out_absmax: new Float32Array(requests).fill(1.5),
      lse_nan: constant(0),
      lse_min: new Float32Array(requests).fill(Number.NEGATIVE_INFINITY),
      lse_max: new Float32Array(requests).fill(3),
    },
  }
}

export const pageChunk = (
  rank: number,
  cells: readonly { step: number; request: number; column: number; page: number }[],
): TraceChunk => ({
  table: 'pages',
  rank,
  rows: cells.length,
  columns: {
    step: Int32Array.from(cells, (c) => c.step),
    request: Int32Array.from(cells, (c) => c.request),
    column: Int32Array.from(cells, (c) => c.column),
    page: Int32Array.from(cells, (c) => c.page),
    valid: Int32Array.from(cells, () => 1),
  },
})

export const eventChunk = (messages: readonly string[]): TraceChunk => ({
  table: 'events',
  rank: -1,
  rows: messages.length,
  columns: {
    step: Int32Array.from(messages, (_, i) => i),
    layer: new Int32Array(messages.length),
    rank: new Int32Array(messages.length).fill(-1),
    request: Int32Array.from(messages, (_, i) => i),
    time_ns: BigInt64Array.from(messages, (_, i) => BigInt(i * 10)),
    kind: new Uint8Array(messages.length).fill(3),
    severity: new Uint8Array(messages.length),
    message: messages,
    detail: messages.map(() => '{}'),
  },
})

/** Codes of stages whose spans follow each other. */
const FOLLOWING = STAGES.filter((stage) => !OUTER_STAGES.includes(stage)).map((stage) =>
  STAGES.indexOf(stage),
)

/** `count` spans back to back, stages in turn. */
export const evenSpans = (count: number, dur = 10): SampleSpan[] =>
  Array.from({ length: count }, (_, i) => ({
    start: i * dur,
    dur,
    stage: FOLLOWING[i % FOLLOWING.length] ?? 0,
    step: Math.floor(i / 100),
    layer: i % 4,
  }))

/** The engine's end of a line to the store. */
export interface FakeEngine {
  readonly port: Port
  readonly storeEnd: Port
  readonly replies: TraceReply[]
  send(message: unknown): void
  begin(bundle: string, manifest?: Manifest): void
  chunk(chunk: TraceChunk): void
  end(message?: Partial<Extract<TraceMessage, { type: 'end' }>>): void
  /** Resolves with the first reply of a type. */
  reply<T extends TraceReply['type']>(type: T): Promise<Extract<TraceReply, { type: T }>>
  /** Resolves when `count` acks came. */
  acks(count: number): Promise<void>
}

export const fakeEngine = (runId = 'run-1'): FakeEngine => {
  const [port, storeEnd] = portPair()
  const replies: TraceReply[] = []
  const waiting = new Set<() => void>()
  port.onMessage((message) => {
    replies.push(traceReplySchema.parse(message))
    for (const look of waiting) look()
  })
  const until = <R>(find: () => R | undefined): Promise<R> =>
    new Promise((resolve) => {
      const look = (): void => {
        const found = find()
        if (found === undefined) return
        waiting.delete(look)
        resolve(found)
      }
      waiting.add(look)
      look()
    })
  return {
    port,
    storeEnd,
    replies,
    send: (message) => port.post(message),
    begin: (bundle, manifest = sampleManifest()) => port.post({ type: 'begin', runId, bundle, manifest }),
    chunk: (chunk) => port.post({ type: 'chunk', runId, bytes: 1000, chunk }),
    end: (message = {}) =>
      port.post({ type: 'end', runId, status: 'complete', dropped: 0, captureNotes: [], ...message }),
    reply: <T extends TraceReply['type']>(type: T) =>
      until(() => replies.find((r): r is Extract<TraceReply, { type: T }> => r.type === type)),
    acks: (count) =>
      until(() => (replies.filter((r) => r.type === 'ack').length >= count ? true : undefined)).then(
        () => {},
      ),
  }
}
