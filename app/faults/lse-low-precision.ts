import { type Fault, injection, NO_PARAMS, PLAIN, SEVERAL_RANKS } from './fault.ts'

/** Kernels of the named ranks store the lse rounded to bf16. */
export const lseLowPrecision: Fault = {
  name: 'lse-low-precision',
  title: 'LSE stored in bf16',
  summary: 'The lse is kept in bf16, whose steps at its magnitude are percents of a weight.',
  injection: injection({
    point: 'attn.lseType',
    params: NO_PARAMS,
    needs: [
      SEVERAL_RANKS,
      {
        path: 'engine.lseType',
        holds: ({ engine }) => engine.lseType === 'fp32',
        rule: 'must be fp32',
      },
    ],
    engine: () => PLAIN,
  }),
}
