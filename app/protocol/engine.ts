import { z } from 'zod'
import { runConfigSchema } from '../run/config.ts'
import { cudaSchema, predictionSchema } from '../run/machine.ts'
import { manifestSchema, RUN_STATUSES } from '../trace/manifest.ts'
import { TABLE_NAMES } from '../trace/tables.ts'

/** The place of a process among those that a launcher started, and where rank 0 listens. */
const seatSchema = z.strictObject({
  rank: z.int(),
  world: z.int(),
  localRank: z.int().optional(),
  address: z.string(),
  port: z.int(),
})
export type Seat = z.output<typeof seatSchema>

/** Commands to the engine host, from main or the command line. `runId` is opaque. */
export const engineCommandSchema = z.discriminatedUnion('type', [
  /** `bundle` is the folder of the run; `config` has passed parseRunConfig and unsupported. */
  z.strictObject({
    type: z.literal('start'),
    runId: z.string(),
    bundle: z.string(),
    name: z.string(),
    config: runConfigSchema,
    /** Of a run whose ranks a launcher starts; without it ranks that are processes are started by the engine host. */
    seat: seatSchema.optional(),
  }),
  /** What a run of `config` would allocate; answered by `predicted` with the same `seq`. */
  z.strictObject({ type: z.literal('predict'), seq: z.int(), config: runConfigSchema }),
  z.strictObject({ type: z.literal('pause') }),
  z.strictObject({ type: z.literal('resume') }),
  z.strictObject({ type: z.literal('stop') }),
  z.strictObject({ type: z.literal('ping'), seq: z.int() }),
])
export type EngineCommand = z.output<typeof engineCommandSchema>

/** What the engine host tells main or the command line. Trace data goes to the store only. */
export const engineEventSchema = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('ready'),
    version: z.string(),
    cores: z.int(),
    simd: z.string(),
    memoryAvailableBytes: z.number(),
    cuda: cudaSchema.optional(),
  }),
  z.strictObject({
    type: z.literal('predicted'),
    seq: z.int(),
    result: z.discriminatedUnion('ok', [
      z.strictObject({ ok: z.literal(true), prediction: predictionSchema }),
      z.strictObject({ ok: z.literal(false), message: z.string() }),
    ]),
  }),
  z.strictObject({
    type: z.literal('phase'),
    runId: z.string(),
    phase: z.enum(['filling', 'running', 'paused', 'finishing']),
    fraction: z.number(),
  }),
  /** The run is over and the store has closed the bundle. `code` is the native error code when failed. */
  z.strictObject({
    type: z.literal('ended'),
    runId: z.string(),
    status: z.enum(RUN_STATUSES),
    error: z.string().optional(),
    code: z.string().optional(),
  }),
  z.strictObject({ type: z.literal('pong'), seq: z.int() }),
])
export type EngineEvent = z.output<typeof engineEventSchema>

const columnData = z.union([
  z.instanceof(Int32Array),
  z.instanceof(BigInt64Array),
  z.instanceof(Float64Array),
  z.instanceof(Float32Array),
  z.instanceof(Uint8Array),
  z.array(z.string()),
])

const chunk = z.strictObject({
  table: z.enum(TABLE_NAMES),
  rank: z.int().min(-1),
  rows: z.int().min(0),
  columns: z.record(z.string(), columnData),
})

/**
 * Engine host -> store. Every message is at most 1 MB and carries `bytes`; the store answers each with one
 * `ack` of the same bytes when it has taken it, and the engine host keeps at most CREDIT_BYTES unacknowledged.
 */
export const traceMessageSchema = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('begin'),
    runId: z.string(),
    bundle: z.string(),
    manifest: manifestSchema,
  }),
  z.strictObject({ type: z.literal('chunk'), runId: z.string(), bytes: z.int(), chunk }),
  /** A safetensors file in pieces: `file` is relative to the bundle; the piece with `last` closes it. */
  z.strictObject({
    type: z.literal('file'),
    runId: z.string(),
    bytes: z.int(),
    file: z.string().regex(/^tensors\/step=\d+\/layer=\d+\/(rank=\d+|reference)\.safetensors$/),
    offset: z.number(),
    data: z.instanceof(Uint8Array),
    last: z.boolean(),
  }),
  z.strictObject({
    type: z.literal('end'),
    runId: z.string(),
    /** `interrupted`: the process of a rank died. */
    status: z.enum(['complete', 'stopped', 'interrupted', 'failed']),
    error: z.string().optional(),
    code: z.string().optional(),
    dropped: z.int(),
    captureNotes: z.array(z.string()),
    /** Why kernels that were asked for were not recorded. */
    kernelNote: z.string().optional(),
    /** Of the clocks over the whole run, where it could be asked for. */
    uncertaintyNs: z.number().optional(),
  }),
])
export type TraceMessage = z.output<typeof traceMessageSchema>

/** Store -> engine host. `failed`: the store cannot go on (disk full, folder gone); the engine stops the run. */
export const traceReplySchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('ack'), runId: z.string(), bytes: z.int() }),
  z.strictObject({ type: z.literal('failed'), runId: z.string(), error: z.string() }),
  z.strictObject({ type: z.literal('closed'), runId: z.string(), status: z.enum(RUN_STATUSES) }),
])
export type TraceReply = z.output<typeof traceReplySchema>

export const MESSAGE_BYTES = 1 << 20
export const CREDIT_BYTES = 16 << 20
