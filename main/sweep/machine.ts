import type { EngineEvent } from '../../app/protocol/engine.ts'
import { usableGpus } from '../../app/run/gpus.ts'
import type { SweepMachine } from '../../app/sweep/expand.ts'
import { gpusOf, sweepMachine } from '../../app/sweep/machine.ts'
import { cpuName } from '../process/cpu-name.ts'
import { SweepFailure } from './failure.ts'
import type { SweepTask } from './task.ts'

export type Ready = Extract<EngineEvent, { type: 'ready' }>

/** What measures: what the configuration asks for, and in a sweep that goes on what measured before. */
export const machineOf = ({ config, begun, folder }: SweepTask, ready: Ready): SweepMachine => {
  const machine = begun?.sweep ?? sweepMachine(config, ready)
  const { cuda } = ready
  const count = usableGpus(cuda)
  const gpu = count === 0 ? undefined : cuda?.devices[0]
  if (machine.device === 'cuda' && gpu === undefined)
    throw new SweepFailure('engine', cuda?.reason ?? 'the engine can use no GPU here')
  if (begun === undefined) return machine
  const before = deviceText(begun.manifest.devices[0]?.name, begun.sweep.gpus)
  const here = deviceText(
    machine.device === 'cuda' ? gpu?.name : cpuName(),
    gpusOf(config.base, machine.device, count),
  )
  if (before !== here)
    throw new SweepFailure('bundle', `${folder.path} was measured on ${before}, and here is ${here}`)
  return machine
}

const deviceText = (name = 'unknown', gpus: number | undefined): string =>
  gpus === undefined ? name : `${gpus} x ${name}`
