import type { Fault } from './fault.ts'

export const padRowGarbage: Fault = {
  name: 'pad-row-garbage',
  title: 'Padding rows of a graph hold garbage',
  summary:
    'Rows that only pad the batch of a CUDA graph hold garbage, which is harmless unless it is merged into real rows.',
}
