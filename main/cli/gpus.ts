import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { CudaInfo } from '../../app/run/machine.ts'

export interface Gpu {
  readonly name: string
  /** `major.minor` */
  readonly computeCapability: string
  readonly memoryMiB: number
  /** The driver's own version, or `CUDA 13.0` when only the engine could be asked. */
  readonly driver: string
}

const FIELDS = 'name,compute_cap,memory.total,driver_version'
const NVIDIA_SMI = [`--query-gpu=${FIELDS}`, '--format=csv,noheader,nounits']

/** GPUs as the driver's own tool lists them; none where the tool is not there or fails. */
export const findGpus = async (): Promise<Gpu[]> => {
  try {
    const { stdout } = await promisify(execFile)('nvidia-smi', NVIDIA_SMI, { timeout: 10_000 })
    return parseGpus(stdout)
  } catch {
    return []
  }
}

/** Reads what the driver's tool prints. */
export const parseGpus = (csv: string): Gpu[] =>
  csv.split('\n').flatMap((line) => {
    const [name, computeCapability, memory, driver] = line.split(',').map((part) => part.trim())
    return name === undefined ||
      computeCapability === undefined ||
      memory === undefined ||
      driver === undefined
      ? []
      : [{ name, computeCapability, memoryMiB: Number(memory), driver }]
  })

/** GPUs as the engine lists them. */
export const gpusOf = (cuda: CudaInfo): Gpu[] =>
  cuda.devices.map(({ name, computeCapability, memoryBytes, driverVersion }) => ({
    name,
    computeCapability,
    memoryMiB: Math.round(memoryBytes / 2 ** 20),
    driver: `CUDA ${driverVersion}`,
  }))
