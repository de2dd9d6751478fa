import type { RunConfig } from '../../app/run/config.ts'
import { contextLens } from '../../app/run/engine-config.ts'
import { keyWidth } from '../../app/run/shape.ts'
import type { SweepConfig } from '../../app/sweep/config.ts'
import type { Manifest } from '../../app/trace/manifest.ts'

/** Short line for lists, of a run or of a sweep. */
export const bundleTitle = ({ config, sweep }: Pick<Manifest, 'config' | 'sweep'>): string =>
  sweep === undefined ? runTitle(config) : sweepTitle(sweep.config)

/** `sweep of tiny, DCP 2 4, contexts 256 to 4096, concurrency 1 to 4`. */
const sweepTitle = ({ base, mode, dcp, context, concurrency }: SweepConfig): string => {
  const range = (values: readonly number[]): string => {
    const [least, most] = [Math.min(...values), Math.max(...values)]
    return least === most ? `${most}` : `${least} to ${most}`
  }
  return [
    `sweep of ${modelName(base)}`,
    ...(mode.includes('dcp') ? [`DCP ${dcp.join(' ')}`] : []),
    `contexts ${range(context)}`,
    `concurrency ${range(concurrency)}`,
  ].join(', ')
}

/** `16 heads x 576`, `32 heads x 128, 8 KV heads`. */
const modelName = (config: RunConfig): string => {
  const { preset, heads, kvHeads } = config.model
  const name = preset ?? `${heads} heads x ${keyWidth(config)}`
  return kvHeads === undefined ? name : `${name}, ${kvHeads} KV ${kvHeads === 1 ? 'head' : 'heads'}`
}

/** `tiny, DCP 4, fp8, top-k 64, ag_rs, 4 requests of 1 to 1000 tokens`; bf16 and dense go without saying. */
export const runTitle = (config: RunConfig): string => {
  const { parallel, cache, workload } = config
  const lens = contextLens(config)
  const [least, most] = [Math.min(...lens), Math.max(...lens)]
  const size = least === most ? `${most}` : `${least} to ${most}`
  return [
    modelName(config),
    parallel.mode === 'tp' ? `TP ${parallel.tpSize}` : `DCP ${parallel.dcpSize}`,
    ...(cache.kvDtype === 'bf16' ? [] : [cache.kvDtype]),
    ...(workload.topk === undefined ? [] : [`top-k ${workload.topk}`]),
    parallel.comm,
    `${lens.length} ${lens.length === 1 ? 'request' : 'requests'} of ${size} tokens`,
  ].join(', ')
}
