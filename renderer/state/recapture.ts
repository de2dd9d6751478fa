import type { RunConfig } from '../../app/run/config.ts'

const MOST = 64

const withEntry = (list: readonly number[], entry: number): number[] =>
  list.includes(entry) ? [...list] : [...list.slice(-(MOST - 1)), entry].sort((a, b) => a - b)

/** The same run with the tensors of one more step and layer kept. */
export const recaptureConfig = (config: RunConfig, step: number, layer: number): RunConfig => {
  const { steps, layers } = config.capture
  const before = steps === 'none' ? [] : steps === 'last' ? [config.workload.steps - 1] : steps
  return {
    ...config,
    capture: { steps: withEntry(before, step), layers: withEntry(layers, layer) },
  }
}
