import { z } from 'zod'
import { type Fault, injection, SEVERAL_RANKS } from './fault.ts'

/** The named ranks take from the exchange the heads of the rank `shift` (amount) further on. */
export const headOrderPermuted: Fault = {
  name: 'head-order-permuted',
  title: 'Heads arrive in the order of other ranks',
  summary:
    'The order of ranks in the collective differs from that of the head slices, so merged heads come to another rank.',
  injection: injection({
    point: 'merge.headOrder',
    params: z.strictObject({
      shift: z.int().min(1).max(63).default(1).describe('ranks by which the slices are off'),
    }),
    needs: [
      SEVERAL_RANKS,
      {
        path: '.params.shift',
        holds: ({ parallel }, { shift }) => shift % parallel.dcpSize !== 0,
        rule: 'must not be a multiple of dcpSize',
      },
    ],
    engine: ({ shift }) => ({ variant: 0, amount: shift }),
    cpuOnly: ({ engine, parallel }) =>
      engine.ranks === 'processes' && parallel.comm !== 'p2p'
        ? 'NCCL deals out the heads of ranks in processes in their order, unless parallel.comm is p2p'
        : undefined,
  }),
}
