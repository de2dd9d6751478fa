import type { RunConfig } from '../run/config.ts'
import { usableGpus } from '../run/gpus.ts'
import type { CudaInfo } from '../run/machine.ts'
import type { SweepConfig } from './config.ts'
import type { SweepMachine } from './expand.ts'

/** What the engine says of a machine. */
export interface Measuring {
  readonly cuda?: CudaInfo | undefined
  readonly memoryAvailableBytes: number
}

/** What would measure a new sweep. A GPU that is asked for and missing has no memory. */
export const sweepMachine = (
  config: SweepConfig,
  { cuda, memoryAvailableBytes }: Measuring,
): SweepMachine => {
  const count = usableGpus(cuda)
  const asked = config.base.engine.device
  const device = asked === 'auto' ? (count < wantedGpus(config) ? 'cpu' : 'cuda') : asked
  return {
    device,
    memoryBytes: device === 'cuda' ? (cuda?.devices[0]?.memoryBytes ?? 0) : memoryAvailableBytes,
    gpus: gpusOf(config.base, device, count),
  }
}

/** GPUs of ranks with a process and a GPU each; undefined where they have none of their own. */
export const gpusOf = (
  { engine }: RunConfig,
  device: SweepMachine['device'],
  count: number,
): number | undefined => (device === 'cuda' && engine.ranks === 'processes' ? count : undefined)

/** GPUs that every point of a sweep finds enough. */
const wantedGpus = ({ base, mode, dcp }: SweepConfig): number =>
  base.engine.ranks === 'processes' && mode.includes('dcp') ? Math.max(...dcp) : 1
