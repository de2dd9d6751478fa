import type { RunConfig } from '../run/config.ts'
import { kernelHeads, kernelKvHeads } from '../run/shape.ts'
import { type Fault, injection, NO_PARAMS, PLAIN, SEVERAL_RANKS } from './fault.ts'

/** Whether each KV head has as many query heads also by the counts of one rank. */
const dealsOut = (config: RunConfig): boolean => {
  const heads = kernelHeads(config)
  const kvHeads = Math.max(1, kernelKvHeads(config))
  const together = Math.max(1, Math.floor(heads / config.parallel.dcpSize / kvHeads))
  return heads % (together * kvHeads) === 0
}

/** Kernels of the named ranks count heads / dcpSize / KV heads query heads to a KV head, and begin again behind the last KV head. */
export const gqaHeadMapLocal: Fault = {
  name: 'gqa-head-map-local',
  title: 'Query heads mapped to KV heads by local counts',
  summary:
    'The map from query heads to KV heads is built from the counts of one rank, so heads attend with the KV head of a neighbour.',
  injection: injection({
    point: 'attn.headMap',
    params: NO_PARAMS,
    needs: [
      SEVERAL_RANKS,
      {
        path: 'model.kvHeads',
        holds: (config) => kernelKvHeads(config) > 1,
        rule: 'must be so many that a rank keeps several',
      },
    ],
    engine: () => PLAIN,
    cpuOnly: (config) => (dealsOut(config) ? undefined : 'a GPU has as many query heads for each KV head'),
  }),
}
