import type { EngineEvent } from '../../app/protocol/engine.ts'
import { usableGpus } from '../../app/run/gpus.ts'
import type { SweepConfig } from '../../app/sweep/config.ts'
import type { SweepMachine } from '../../app/sweep/expand.ts'
import { cpuName } from '../process/cpu-name.ts'
import { SweepFailure } from './failure.ts'
import type { SweepTask } from './task.ts'

export type Ready = Extract<EngineEvent, { type: 'ready' }>

/** What measures: what the configuration asks for, and in a sweep that goes on what measured before. */
export const machineOf = (
  { config, begun, folder }: SweepTask,
  { cuda, memoryAvailableBytes }: Ready,
): SweepMachine => {
  const count = usableGpus(cuda)
  const gpu = count === 0 ? undefined : cuda?.devices[0]
  const asked = config.base.engine.device
  const device =
    begun?.sweep.device ?? (asked === 'auto' ? (count < wantedGpus(config) ? 'cpu' : 'cuda') : asked)
  if (device === 'cuda' && gpu === undefined)
    throw new SweepFailure('engine', cuda?.reason ?? 'the engine can use no GPU here')
  const gpus = device === 'cuda' && config.base.engine.ranks === 'processes' ? count : undefined
  if (begun === undefined) {
    const memoryBytes = device === 'cuda' ? (gpu?.memoryBytes ?? 0) : memoryAvailableBytes
    return { device, memoryBytes, gpus }
  }
  const before = deviceText(begun.manifest.devices[0]?.name, begun.sweep.gpus)
  const here = deviceText(device === 'cuda' ? gpu?.name : cpuName(), gpus)
  if (before !== here)
    throw new SweepFailure('bundle', `${folder.path} was measured on ${before}, and here is ${here}`)
  return begun.sweep
}

/** GPUs that every point of a sweep finds enough. */
const wantedGpus = ({ base, mode, dcp }: SweepConfig): number =>
  base.engine.ranks === 'processes' && mode.includes('dcp') ? Math.max(...dcp) : 1

const deviceText = (name = 'unknown', gpus: number | undefined): string =>
  gpus === undefined ? name : `${gpus} x ${name}`
