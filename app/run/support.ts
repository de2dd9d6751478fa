import type { RunConfig } from './config.ts'
import type { ConfigIssue } from './parse.ts'

/**
 * What the configuration can say but this version's engine cannot do yet, by name.
 * Kept apart from the schema: files stay valid when an engine learns more.
 */
export const unsupported = (config: RunConfig): ConfigIssue[] => {
  const { model, parallel, cache, workload, engine, serving, faults } = config
  const issues: ConfigIssue[] = []
  const refuse = (given: boolean, path: string, what: string): void => {
    if (given) issues.push({ path, message: `${what} is not supported by this version's engine` })
  }
  if (engine.device === 'cuda')
    issues.push({
      path: 'engine.device',
      message: 'cuda is not supported by this version, which has the CPU engine only; use cpu or auto',
    })
  refuse(model.kvHeads !== undefined, 'model.kvHeads', 'grouped-query attention')
  refuse(model.headDim !== undefined, 'model.headDim', 'grouped-query attention')
  refuse(parallel.comm === 'p2p', 'parallel.comm', 'the p2p transport')
  refuse(cache.kvDtype === 'fp8', 'cache.kvDtype', 'an fp8 cache')
  refuse(cache.kvDtype === 'fp8_ds_mla', 'cache.kvDtype', 'an fp8_ds_mla cache')
  refuse(workload.topk !== undefined, 'workload.topk', 'sparse top-k attention')
  refuse(engine.graph, 'engine.graph', 'graph replay')
  refuse(
    serving.backend !== undefined,
    'serving.backend',
    `the back-end profile ${JSON.stringify(serving.backend)}`,
  )
  refuse(serving.kernel !== undefined, 'serving.kernel', 'a back-end kernel')
  refuse(serving.versions !== undefined, 'serving.versions', 'a back-end version')
  refuse(serving.draft !== undefined, 'serving.draft', 'a draft model')
  refuse(serving.causal === false, 'serving.causal', 'non-causal attention')
  refuse(serving.phase !== 'decode', 'serving.phase', `the ${serving.phase} phase`)
  faults.forEach((f, i) => {
    refuse(true, `faults[${i}].fault`, `fault injection (${JSON.stringify(f.fault)})`)
  })
  return issues
}
