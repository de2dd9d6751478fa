import type { Fault } from './fault.ts'

export const causalEndAligned: Fault = {
  name: 'causal-end-aligned',
  title: 'Several query tokens masked on local keys',
  summary: 'The rows of several query tokens are masked on the keys of the rank as if these were contiguous.',
}
