import type { Fault } from './fault.ts'

export const topkSentinelOwned: Fault = {
  name: 'topk-sentinel-owned',
  title: 'The entry for no token counts as a token',
  summary:
    'The -1 that stands for no token passes the test of ownership on the last rank and is taken for a key.',
}
