import { type Fault, injection, NO_PARAMS, PLAIN, SEVERAL_RANKS } from './fault.ts'

/** Rows without keys of the named ranks go into the merge as the kernel left them (`engine.emptyRow`). */
export const emptyRowNotNeutralised: Fault = {
  name: 'empty-row-not-neutralised',
  title: 'Rows without keys reach the merge as they are',
  summary: 'A rank without keys hands garbage or NaN to the merge, which has to see out 0 and lse -inf.',
  injection: injection({
    point: 'neutralize',
    params: NO_PARAMS,
    needs: [
      SEVERAL_RANKS,
      {
        path: 'engine.emptyRow',
        holds: ({ engine }) => engine.emptyRow === 'unwritten' || engine.emptyRow === 'nan',
        rule: 'must be unwritten or nan',
      },
    ],
    engine: () => PLAIN,
  }),
}
