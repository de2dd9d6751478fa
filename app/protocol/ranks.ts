import { z } from 'zod'
import { runConfigSchema } from '../run/config.ts'
import { RUN_STATUSES } from '../trace/manifest.ts'
import { engineEventSchema, traceMessageSchema, traceReplySchema } from './engine.ts'

/**
 * Messages between the processes of ranks and the engine host that leads them, over TCP. A rank is towards its leader
 * what an engine host is towards the store: it sends trace messages and gets them acknowledged.
 */

/** Time between two signs of life, of a rank and of its leader. */
export const BEAT_MS = 500
/** Signs of life that may fail to come before the other end counts as gone. */
export const MISSED_BEATS = 8
/** The same while a rank allocates, when it can say nothing; `neighbours` are on its machine and do so at once. */
export const missedBeatsAtStart = (neighbours: number): number => 14 + 2 * neighbours
/** How long ranks wait for each other at the beginning. */
export const GATHER_MS = 8000

export const PRODUCT = 'dcpscope'

/** The GPU of a rank, see RankGpu, and versions of what ranks on GPUs meet by. */
const rankGpuSchema = z.object({
  name: z.string().max(255),
  id: z.string().max(255),
  freeBytes: z.number(),
  unreachable: z.array(z.string().max(255)).max(64),
  versions: z.record(z.string(), z.string()),
})

/** The first message of a rank; ranks of other versions send it too. `config` is parsed once the versions are the same. */
export const helloSchema = z.object({
  type: z.literal('hello'),
  product: z.literal(PRODUCT),
  /** Of a group that was started on one machine: what tells its ranks from strangers. */
  token: z.string(),
  rank: z.int(),
  world: z.int(),
  /** Number of the rank on its machine, where a launcher says so. */
  localRank: z.int().optional(),
  host: z.string().max(255),
  /** Names the running system and its shared memory: ranks of the same one meet there. */
  system: z.string(),
  pid: z.int(),
  versions: z.record(z.string(), z.string()),
  /** What it computes on, in words. */
  device: z.string().max(255),
  /** Absent where that is the CPU. */
  gpu: rankGpuSchema.optional(),
  config: z.unknown(),
})
export type Hello = z.output<typeof helloSchema>

/** How a run ended, for its ranks. */
const over = z.strictObject({
  type: z.literal('over'),
  status: z.enum(RUN_STATUSES),
  error: z.string().optional(),
  code: z.string().optional(),
})
export type Over = z.output<typeof over>

export const fromRankSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('trace'), message: traceMessageSchema }),
  z.strictObject({ type: z.literal('event'), event: engineEventSchema }),
  /** A sign of life, with where each rank of its machine is (see NativeRun.places). */
  z.strictObject({ type: z.literal('beat'), places: z.array(z.string()) }),
  /** Answer to `clock` with the steady clock of the rank's machine. */
  z.strictObject({ type: z.literal('clock'), ns: z.bigint() }),
  /** Of the first rank, before its trace: where it listens for the others, which share no memory with it. */
  z.strictObject({ type: z.literal('listens'), port: z.int() }),
  /** Somebody asked this rank to end: the run is to be stopped. */
  z.strictObject({ type: z.literal('stop') }),
])
export type FromRank = z.output<typeof fromRankSchema>

export const toRankSchema = z.discriminatedUnion('type', [
  /** All ranks are there and this one may begin. `segment`: name of the memory that the ranks share, or of the group. */
  z.strictObject({
    type: z.literal('start'),
    runId: z.string(),
    name: z.string(),
    segment: z.string(),
    creates: z.boolean(),
    /**
     * How ranks of several machines meet: the port of the first one, 0 for that itself, which then listens for its own
     * machine alone or for all.
     */
    network: z.strictObject({ port: z.int(), local: z.boolean() }).optional(),
    /** Some ranks share a GPU, so that times contain the turns of others. */
    timeSliced: z.boolean(),
    /** On the steady clock of the rank's machine. */
    clockBaseNs: z.bigint(),
    /** Bytes of trace that may be unacknowledged. */
    credit: z.int(),
    /** Other ranks of its machine. */
    neighbours: z.int(),
  }),
  z.strictObject({ type: z.literal('reply'), reply: traceReplySchema }),
  /** `keepStep`: what the step in progress has recorded is wanted, since it shows why the run ends. */
  z.strictObject({ type: z.literal('stop'), keepStep: z.boolean() }),
  z.strictObject({ type: z.literal('beat') }),
  z.strictObject({ type: z.literal('clock') }),
  over,
])
export type ToRank = z.output<typeof toRankSchema>

/** What the process of a rank is told by the one that started it. */
export const assignmentSchema = z.strictObject({
  rank: z.int(),
  world: z.int(),
  localRank: z.int().optional(),
  /** Where the leader listens. */
  address: z.string(),
  port: z.int(),
  token: z.string(),
  config: runConfigSchema,
})
export type Assignment = z.output<typeof assignmentSchema>

/** What the process of a rank says to the one that started it, before it is busy and gives no sign of life. */
export const quietSchema = z.strictObject({ type: z.literal('quiet'), beats: z.int() })
export type Quiet = z.output<typeof quietSchema>

/** The same at its end. */
export const overSchema = over
