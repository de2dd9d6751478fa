import { type Fault, injection, MLA, NO_PARAMS, PLAIN } from './fault.ts'

/** The kernel of the named ranks reads a pool of rows of 576 bytes (fp8) as one of 656 (fp8_ds_mla), or the reverse. */
export const kvLayoutMismatch: Fault = {
  name: 'kv-layout-mismatch',
  title: 'Cache rows of another layout',
  summary:
    'Rows of 576 and of 656 bytes are confused, so keys and scales from the second token on are read from the wrong bytes.',
  injection: injection({
    point: 'attn.rowBytes',
    params: NO_PARAMS,
    needs: [
      MLA,
      {
        path: 'cache.kvDtype',
        holds: ({ cache }) => cache.kvDtype === 'fp8' || cache.kvDtype === 'fp8_ds_mla',
        rule: 'must be fp8 or fp8_ds_mla',
      },
      {
        path: 'model.kvLoraRank',
        holds: ({ model }) => model.kvLoraRank === 512 && model.ropeDim === 64,
        rule: 'must be 512, with ropeDim 64,',
      },
    ],
    engine: () => PLAIN,
  }),
}
