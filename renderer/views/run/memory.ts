import type { Prediction } from '../../../app/run/machine.ts'

export interface Memory {
  /** Largest first, without those that are empty. */
  readonly components: Prediction['components']
  readonly totalBytes: number
  /** Whether what is free now is enough; the engine keeps some room beside, and has the last word. */
  readonly fits: boolean
}

export const memoryOf = ({ components, availableBytes }: Prediction): Memory => {
  const totalBytes = components.reduce((sum, { bytes }) => sum + bytes, 0)
  return {
    components: components.filter(({ bytes }) => bytes > 0).sort((a, b) => b.bytes - a.bytes),
    totalBytes,
    fits: totalBytes <= availableBytes,
  }
}
