import type { Machine } from '../../../app/run/machine.ts'

/** The machine in a line. */
export const machineLine = (machine: Machine): string => {
  const gpus = machine.cuda?.available === true ? machine.cuda.devices : []
  const [first] = gpus
  const cpu = `CPU with ${machine.cpu.cores} cores`
  return first === undefined ? cpu : `${cpu}, ${gpus.length === 1 ? '' : `${gpus.length} × `}${first.name}`
}
