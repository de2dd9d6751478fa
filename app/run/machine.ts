import { z } from 'zod'

/** A GPU as the engine sees it. Versions are `major.minor`. */
export const gpuSchema = z.strictObject({
  name: z.string(),
  computeCapability: z.string(),
  multiprocessors: z.int(),
  memoryBytes: z.number(),
  /** Free when the engine looked. */
  freeBytes: z.number(),
  driverVersion: z.string(),
  runtimeVersion: z.string(),
  uuid: z.string().optional(),
  /** Version of the driver itself, where it says so. */
  driver: z.string().optional(),
  /** GPUs whose memory this one can reach, by their places in the list. */
  peers: z.array(z.int()).optional(),
  /** NVLink links that are up; absent where the driver does not tell. */
  nvLinks: z.int().optional(),
})
export type Gpu = z.output<typeof gpuSchema>

/** Whether NCCL can be used, by which ranks on GPUs of their own exchange; `reason` says in one line why not. */
export const ncclSchema = z.strictObject({
  available: z.boolean(),
  version: z.string().optional(),
  reason: z.string().optional(),
})
export type NcclInfo = z.output<typeof ncclSchema>

/** Whether the engine can use a GPU here; `reason` says in one line why not. */
export const cudaSchema = z.strictObject({
  available: z.boolean(),
  reason: z.string().optional(),
  devices: z.array(gpuSchema),
  nccl: ncclSchema.optional(),
})
export type CudaInfo = z.output<typeof cudaSchema>

/** What the engine of this machine can run on. */
export const machineSchema = z.strictObject({
  cpu: z.strictObject({ cores: z.int(), simd: z.string(), memoryAvailableBytes: z.number() }),
  /** Absent when the engine is of a kind that knows no GPU. */
  cuda: cudaSchema.optional(),
})
export type Machine = z.output<typeof machineSchema>

/** Memory that a run would take, before anything is allocated. */
export const predictionSchema = z.strictObject({
  device: z.enum(['cpu', 'cuda']),
  components: z.array(z.strictObject({ name: z.string(), bytes: z.number() })),
  /** Memory of the device that is free now. */
  availableBytes: z.number(),
})
export type Prediction = z.output<typeof predictionSchema>
