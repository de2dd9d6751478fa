import type { Attended, AttendTask } from '../../app/diagnosis/reference.ts'
import type { EngineConfig } from '../../app/run/engine-config.ts'
import type { CudaInfo } from '../../app/run/machine.ts'

/**
 * The Node-API surface of the native engine (native/node). It knows nothing of files, JSON or processes:
 * plain objects in, typed arrays out. Every call that can fail throws an Error whose `code` is one of
 * `ERR_CONFIG`, `ERR_MEMORY`, `ERR_POOL_FULL`, `ERR_CANCELLED`, `ERR_STATE`, `ERR_ENGINE`, `ERR_DEVICE`, and of ranks
 * with processes of their own `ERR_ABSENT` (another rank did not come, and which) and `ERR_ABANDONED` (another rank
 * has ended the run). After `ERR_DEVICE` (a fault of a GPU) nothing works in the process any more: it has to end.
 */
export interface NativeAddon {
  /** Version of the engine, e.g. `0.1.0`. */
  readonly version: string
  cpu(): CpuInfo
  /** Looks for GPUs that a run with `device: 'cuda'` can use; the first one computes, or that of `Member`. */
  cuda(): CudaInfo
  /**
   * Bytes that a run would allocate, by component, before anything is allocated. With ranks as processes on GPUs it is
   * what one of them would.
   */
  predictMemory(config: EngineConfig): MemoryComponent[]
  /**
   * Validates, checks the prediction against the memory available (ERR_MEMORY names the numbers), allocates. With
   * `member` it is the part of one rank in a run whose ranks are processes.
   */
  createRun(config: EngineConfig, member?: Member): NativeRun
  /** Takes the name of a group's shared memory away. Those who have opened it keep it. */
  unlinkSegment(name: string): void
  /** The steady clock of this machine, which all its processes share. */
  clockNs(): bigint
  /** Sustained read bandwidth of this machine's memory in bytes/s: all cores, buffer far above the caches. */
  measureReadBandwidth(): Promise<number>
}

/** What the addon offers to the diagnosis of tensors from elsewhere. */
export interface NativeAttention {
  /** Attention in fp64 over given rows, on all cores. ERR_CONFIG where sizes contradict each other. */
  attend(task: AttendTask): Promise<Attended>
}

/** A rank with a process of its own. */
export interface Member {
  readonly rank: number
  /** Name of the memory that the ranks share, or what they know each other by over the network. */
  readonly segment: string
  /** Makes that memory, or listens; the others come afterwards. It checks that its machine has memory for all ranks. */
  readonly creates: boolean
  /** Nanoseconds of this machine's steady clock at which the clock of the run is zero. */
  readonly clockBaseNs: bigint
  /** Index of the GPU that computes it, of those of `cuda()`, where a GPU does; 0 where it is not given. */
  readonly gpu?: number
  /** Of ranks that share no memory. */
  readonly network?: MeetingPoint
}

/** Where the first rank of several machines listens, and the others find it. */
export interface MeetingPoint {
  /** Numeric. Of the first rank: where it is to listen; empty: at all addresses that it has. */
  readonly address: string
  /** 0 for the first rank, which takes any that is free (NativeRun.port). */
  readonly port: number
}

/** What the addon says beyond what a run needs. */
export interface NativeKernelRecorder {
  /** Why kernels on a GPU cannot be recorded on this machine, in one line; empty when they can. */
  kernelProblem(): string
}

/** The engine's own ownership rules, which the addon also exports so that tests compare them with app/dcp. */
export interface NativeLayoutRules {
  /** Lengths and sizes in tokens. */
  layout(len: number, ranks: number, interleave: number, pageSize: number, qLen: number): NativeLayout
}

/** `owner`, `localIndex`, `column`, `offset` are [len]; `localLens` [ranks]; `visibleKeys` [ranks * qLen]. */
export interface NativeLayout {
  readonly owner: Int32Array
  readonly localIndex: Int32Array
  /** Column of the block table, and place within the page there. */
  readonly column: Int32Array
  readonly offset: Int32Array
  readonly localLens: Int32Array
  /** Local keys that query row q of qLen sees on rank r, at r * qLen + q. */
  readonly visibleKeys: Int32Array
  /** Columns that `len` tokens need. */
  readonly columns: number
}

export interface CpuInfo {
  readonly cores: number
  /** Vector code path in use: `avx512_bf16`, `avx512`, `avx2`, `neon` or `generic`. */
  readonly simd: string
  readonly memoryAvailableBytes: number
  readonly memoryTotalBytes: number
}

export interface MemoryComponent {
  readonly name: string
  readonly bytes: number
  /** `pinned` is memory of the host that the GPU reaches. */
  readonly place: 'host' | 'pinned' | 'device'
}

/** What holds for all of a run. */
export interface RunFacts {
  /** How times stand to the clock of the run, and within how much. */
  readonly alignment: string
  readonly uncertaintyNs: number
  /** What computes attention: vector code of the CPU, or a kernel of the GPU (`sm90`, `portable`). */
  readonly attention: string
  /** Why kernels that were asked for are not recorded; absent where they are, or none were. */
  readonly kernelProblem?: string
}

/** One run. Work happens on native threads; promises settle on the JavaScript thread. One call at a time. */
export interface NativeRun {
  /** Fills the context of every request for at most about `maxMs`; resolves with the fraction done, 0 to 1. */
  fill(maxMs: number): Promise<number>
  /**
   * Runs steps (warm-up first) until `maxSteps` traced steps are done, `maxMs` have passed, the run is finished,
   * or the next step's trace would not fit the rings. Always makes progress by at least one step unless the
   * rings are full. `waitedNs` > 0 records a `stall` span of that length on every rank, ending now.
   */
  advance(maxSteps: number, maxMs: number, waitedNs: number): Promise<AdvanceResult>
  /** Moves recorded rows out of the rings, at most about `maxBytes` a chunk. Call until it gives none. */
  drain(maxBytes: number): NativeChunk[]
  /** Tensors captured since the last call. */
  takeCaptures(): NativeCapture[]
  /** Trace rows lost to full rings: 0 by construction, counted all the same. */
  dropped(): number
  facts(): RunFacts
  /**
   * Where each rank is, in words that follow "in", also where it does not answer any more; none where ranks have no
   * processes of their own. While nothing works here, to ask also shows the others that this rank goes on.
   */
  places(): string[]
  /** Where the first rank of several machines listens for the others; 0 where nobody does. */
  port(): number
  /** Aborts a running `fill` or `advance` soon (within a layer); it rejects with ERR_CANCELLED. The step is
   * discarded, or with `keepStep` what its finished stages recorded is kept. */
  cancel(keepStep?: boolean): void
  /** A call that works does not come back although it was cancelled: what was recorded can be had beside it from now on. */
  abandon(): void
  /** Frees everything. Idempotent. */
  dispose(): void
}

export interface AdvanceResult {
  /** Traced steps done so far. */
  readonly stepsDone: number
  readonly finished: boolean
  readonly ringsFull: boolean
}

/**
 * Rows of one table as struct of arrays, columns named as in app/trace/tables.ts. `spans`, `kernels` and `steps` come without
 * `provenance`, `steps` also without `tokens_per_s`: the host adds them. `name` of `kernels` (i32) is a place in `names`. Enumerations are codes (Uint8Array), booleans 0 or 1.
 * `events` come as numbers: step, layer, rank, request, time_ns, kind, and `row` (i32), `value` (f64), `limit` (f64),
 * from which the host writes message and detail.
 */
export interface NativeChunk {
  readonly table: 'spans' | 'kernels' | 'rows' | 'pages' | 'steps' | 'events'
  /** -1 for tables that are not per rank. */
  readonly rank: number
  readonly rows: number
  readonly columns: Readonly<
    Record<string, Int32Array | BigInt64Array | Float64Array | Float32Array | Uint8Array>
  >
  /** Of `kernels` only. */
  readonly names?: readonly string[]
}

/** One captured (step, layer) of one rank, or of the reference (`rank` -1): names, types and shapes of the dump format. */
export interface NativeCapture {
  readonly step: number
  readonly layer: number
  readonly rank: number
  readonly tensors: readonly NativeTensor[]
  /** Free text for what was left out and why (`kv: 3.2 GB is above the limit of 64 MB`), else absent. */
  readonly leftOut?: string
}

export interface NativeTensor {
  readonly name: string
  readonly dtype: 'F64' | 'F32' | 'BF16' | 'F8_E4M3' | 'I32' | 'I64' | 'U8'
  readonly shape: readonly number[]
  readonly data: ArrayBuffer
}
