import type { Fault } from './fault.ts'

export const headOrderPermuted: Fault = {
  name: 'head-order-permuted',
  title: 'Heads arrive in the order of other ranks',
  summary:
    'The order of ranks in the collective differs from that of the head slices, so merged heads come to another rank.',
}
