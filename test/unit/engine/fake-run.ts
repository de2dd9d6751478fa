import type { Device, EngineConfig } from '../../../app/run/engine-config.ts'
import type { CudaInfo } from '../../../app/run/machine.ts'
import type {
  AdvanceResult,
  NativeAddon,
  NativeCapture,
  NativeChunk,
  NativeRun,
} from '../../../main/engine/addon.ts'
import type { RunEngine } from '../../../main/engine/driver.ts'

export class NativeError extends Error {
  readonly code: string
  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

export interface FakeOptions {
  readonly steps: number
  /** Rows of spans that each step records. */
  readonly spansPerStep?: number
  readonly captures?: readonly NativeCapture[]
  /** Step at which `advance` throws. */
  readonly failAt?: number
  readonly error?: NativeError
  readonly createError?: NativeError
  /** What the engine says of GPUs; none is the default. */
  readonly cuda?: CudaInfo
  /** Kinds of columns that its spans have beside the plain ones. */
  readonly spanColumns?: NativeChunk['columns']
  /** Why kernels are not recorded, from the beginning and at the end. */
  readonly kernelProblems?: readonly [string | undefined, string | undefined]
}

export const GPU: CudaInfo['devices'][number] = {
  name: 'NVIDIA H200',
  computeCapability: '9.0',
  multiprocessors: 132,
  memoryBytes: 140 * 2 ** 30,
  freeBytes: 5e9,
  driverVersion: '13.0',
  runtimeVersion: '13.0',
  driver: '580.65.06',
}

export const NO_GPU: CudaInfo = {
  available: false,
  reason: 'there is no NVIDIA driver on this machine',
  devices: [],
}

export interface FakeEngine {
  readonly addon: RunEngine
  /** `waitedNs` of each advance. */
  readonly waited: number[]
  readonly calls: string[]
  /** Device of each run that was asked for. */
  readonly devices: Device[]
  readonly disposed: () => number
}

const spans = (step: number, rows: number, more: NativeChunk['columns'] = {}): NativeChunk => ({
  table: 'spans',
  rank: 0,
  rows,
  columns: {
    step: new Int32Array(rows).fill(step),
    start_ns: BigInt64Array.from({ length: rows }, (_, i) => BigInt(step * 1000 + i)),
    dur_ns: new BigInt64Array(rows).fill(1n),
    ...more,
  },
})

const stepRow = (step: number): NativeChunk => ({
  table: 'steps',
  rank: -1,
  rows: 1,
  columns: {
    step: Int32Array.of(step),
    start_ns: BigInt64Array.of(BigInt(step) * 1000n),
    wall_ns: BigInt64Array.of(500n),
    once_ns: BigInt64Array.of(100n),
    device_ns: BigInt64Array.of(900n),
    untraced_ns: BigInt64Array.of(-1n),
    tokens: Int32Array.of(4),
    max_abs_err: Float64Array.of(Number.NaN),
    max_rel_err: Float64Array.of(Number.NaN),
    checked_rows: Int32Array.of(0),
    draft_proposed: Int32Array.of(-1),
    draft_accepted: Int32Array.of(-1),
    graph_replayed: Uint8Array.of(0),
    kernel_trace: Uint8Array.of(0),
  },
})

/** An engine that does one step an `advance` and records it; nothing takes time. */
export const fakeEngine = (options: FakeOptions): FakeEngine => {
  const waited: number[] = []
  const calls: string[] = []
  let disposed = 0
  const devices: Device[] = []
  const createRun = (config: EngineConfig): NativeRun => {
    devices.push(config.device)
    if (options.createError !== undefined) throw options.createError
    const recorded: NativeChunk[] = []
    const captures = [...(options.captures ?? [])]
    let done = 0
    let cancelled = false
    const guard = (): void => {
      if (cancelled) throw new NativeError('ERR_CANCELLED', 'cancelled')
    }
    return {
      fill: async () => {
        guard()
        calls.push('fill')
        return 1
      },
      advance: async (_maxSteps, _maxMs, waitedNs): Promise<AdvanceResult> => {
        calls.push('advance')
        waited.push(waitedNs)
        await new Promise((resolve) => setImmediate(resolve))
        guard()
        if (done === options.failAt) throw options.error ?? new NativeError('ERR_ENGINE', 'it broke')
        recorded.push(spans(done, options.spansPerStep ?? 1, options.spanColumns), stepRow(done))
        done++
        return { stepsDone: done, finished: done === options.steps, ringsFull: false }
      },
      drain: () => recorded.splice(0),
      takeCaptures: () => captures.splice(0),
      dropped: () => 0,
      facts: () => {
        const problem = options.kernelProblems?.[done === 0 ? 0 : 1]
        const facts = { alignment: 'one clock', uncertaintyNs: 7, attention: 'sm90' }
        return problem === undefined ? facts : { ...facts, kernelProblem: problem }
      },
      cancel: () => {
        cancelled = true
      },
      places: () => [],
      abandon: () => {},
      port: () => 0,
      dispose: () => {
        disposed++
      },
    }
  }
  return {
    addon: fakeAddon(createRun, options.cuda ?? NO_GPU),
    waited,
    calls,
    devices,
    disposed: () => disposed,
  }
}

const fakeAddon = (createRun: NativeAddon['createRun'], cuda: CudaInfo): RunEngine => ({
  version: '0.0.0',
  cpu: () => ({ cores: 2, simd: 'generic', memoryAvailableBytes: 1e9, memoryTotalBytes: 2e9 }),
  cuda: () => cuda,
  createRun,
  predictMemory: ({ device }) => {
    const place = device === 'cuda' ? 'device' : 'host'
    return [
      { name: 'kv pages', bytes: 3e8, place },
      { name: 'queries', bytes: 1e6, place },
      ...(device === 'cuda' ? [{ name: 'rings', bytes: 5, place: 'host' } as const] : []),
    ]
  },
})
