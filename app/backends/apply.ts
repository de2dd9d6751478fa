import type { RunConfig } from '../run/config.ts'
import { profileNamed } from './index.ts'

/** Fields that a back-end fixes. */
export const FIXED_BY_BACKEND: readonly string[] = ['engine.lseBase', 'engine.emptyRow', 'parallel.wireDtype']

/**
 * The configuration with the semantics of its back-end in it: base of the lse, what the kernel leaves in rows without keys,
 * and the type of partials in flight. Without a back-end, or with our own, it is as it was.
 */
export const withBackend = (config: RunConfig): RunConfig => {
  const { framework, semantics } = profileNamed(config.serving.backend)
  if (framework === 'dcpscope') return config
  const { parallel, engine } = config
  return {
    ...config,
    parallel: { ...parallel, wireDtype: semantics.merge.wire[parallel.comm] ?? parallel.wireDtype },
    engine: { ...engine, lseBase: semantics.lse.base, emptyRow: semantics.emptyRow },
  }
}
