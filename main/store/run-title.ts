import type { RunConfig } from '../../app/run/config.ts'
import { contextLens } from '../../app/run/engine-config.ts'

/** Short line for lists: `tiny, DCP 4, fp8, top-k 64, ag_rs, 4 requests of 1 to 1000 tokens`; bf16 and dense go without saying. */
export const runTitle = (config: RunConfig): string => {
  const { model, parallel, cache, workload } = config
  const lens = contextLens(config)
  const [least, most] = [Math.min(...lens), Math.max(...lens)]
  const size = least === most ? `${most}` : `${least} to ${most}`
  return [
    model.preset ?? `${model.heads} heads x ${model.kvLoraRank + model.ropeDim}`,
    parallel.mode === 'tp' ? `TP ${parallel.tpSize}` : `DCP ${parallel.dcpSize}`,
    ...(cache.kvDtype === 'bf16' ? [] : [cache.kvDtype]),
    ...(workload.topk === undefined ? [] : [`top-k ${workload.topk}`]),
    parallel.comm,
    `${lens.length} ${lens.length === 1 ? 'request' : 'requests'} of ${size} tokens`,
  ].join(', ')
}
