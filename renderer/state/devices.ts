import type { RunConfig } from '../../app/run/config.ts'
import { deviceOf } from '../../app/run/engine-config.ts'
import { usableGpus } from '../../app/run/gpus.ts'
import type { CudaInfo, Gpu, Machine } from '../../app/run/machine.ts'

/** A device that a configuration can name, and why the engine cannot use it here; null when it can. */
export interface DeviceChoice {
  readonly device: 'auto' | 'cpu' | 'cuda'
  readonly barred: string | null
}

const NOT_LOOKED = 'the engine has not looked at this machine yet'
const CPU_ONLY = 'this engine was built without its CUDA part'

/** Why there is no GPU for the engine, in one line; null when there is one. */
export const whyNoGpu = (machine: Machine | null): string | null => {
  if (machine === null) return NOT_LOOKED
  const { cuda } = machine
  if (cuda === undefined) return CPU_ONLY
  return cuda.available ? null : (cuda.reason ?? 'the engine found no GPU')
}

/** The GPU that a run would take. */
export const gpuOf = (machine: Machine | null): Gpu | null => {
  const cuda: CudaInfo | undefined = machine?.cuda
  return cuda?.available === true ? (cuda.devices[0] ?? null) : null
}

const cpuText = (machine: Machine | null): string =>
  machine === null ? 'CPU' : `CPU, ${machine.cpu.cores} ${machine.cpu.cores === 1 ? 'core' : 'cores'}`

/** Fields of the configuration that mean nothing on the CPU. */
const GPU_ONLY: readonly string[] = ['engine.graph', 'engine.observer', 'engine.kernelTrace']

/** Why a field has no meaning for the run that `config` would be on this machine; null when it has, or nobody knows yet. */
export const whyIdle = (path: string, config: RunConfig | null, machine: Machine | null): string | null => {
  if (!GPU_ONLY.includes(path) || config === null || machine === null) return null
  const gpus = machine.cuda === undefined ? Number.POSITIVE_INFINITY : usableGpus(machine.cuda)
  return deviceOf(config, gpus) === 'cpu' ? 'needs a GPU' : null
}

/** The device that a run of `config` takes on this machine, in words. */
export const runsOn = (config: RunConfig, machine: Machine | null): string =>
  deviceOf(config, usableGpus(machine?.cuda)) === 'cuda'
    ? (gpuOf(machine)?.name ?? 'a GPU')
    : cpuText(machine)

/** The devices that a configuration can name, on this machine. */
export const deviceChoices = (machine: Machine | null): readonly DeviceChoice[] => [
  { device: 'auto', barred: null },
  { device: 'cpu', barred: null },
  { device: 'cuda', barred: whyNoGpu(machine) },
]

/** The only field of a run whose choices depend on the machine. */
const DEVICE = 'engine.device'

/** Words that a field cannot have on this machine, with why not. */
export const barredDevices = (path: string, machine: Machine | null): ReadonlyMap<string, string> =>
  new Map(
    path === DEVICE
      ? deviceChoices(machine).flatMap(({ device, barred }) => (barred === null ? [] : [[device, barred]]))
      : [],
  )

const GIB = 2 ** 30

/** What a person should know of a GPU before a run takes it. */
export const gpuText = (gpu: Gpu): string =>
  `compute capability ${gpu.computeCapability}, ${gpu.multiprocessors} multiprocessors, ` +
  `${(gpu.freeBytes / GIB).toFixed(1)} of ${(gpu.memoryBytes / GIB).toFixed(1)} GiB free, ` +
  `CUDA ${gpu.driverVersion}${gpu.driver === undefined ? '' : `, driver ${gpu.driver}`}`
