import type { RunConfig } from '../run/config.ts'
import { guardsFor } from './check.ts'
import { profileNamed } from './index.ts'

/** What the engine would have to do for a back-end and cannot yet: the field, and what of it. */
export interface EngineGap {
  readonly path: string
  readonly what: string
  /** What to do about it, where there is something. */
  readonly instead?: string
}

const PATH = 'serving.backend'

/** What of a back-end's semantics this version's engine does not compute exactly. */
export const engineGaps = (config: RunConfig): EngineGap[] => {
  const profile = profileNamed(config.serving.backend)
  if (profile.framework === 'dcpscope') return []
  const { lse, padRowLength, restartsAfterPrompt } = profile.semantics
  const gaps: EngineGap[] = []
  const gap = (is: boolean, what: string, path = PATH): void => {
    if (is) gaps.push({ path, what })
  }
  gap(
    !lse.verified && lse.carried !== true,
    `${profile.name}, whose kernel writes the lse in a base that nobody has verified,`,
  )
  gap(
    restartsAfterPrompt === true && config.workload.topk !== undefined,
    'sparse attention where generated tokens are dealt out anew',
    'workload.topk',
  )
  gap(
    config.engine.graph && padRowLength !== 0,
    `a graph of ${profile.name}, whose padding rows are not empty,`,
    'engine.graph',
  )
  for (const { guard } of guardsFor(profile, config))
    if (guard.elsewhere === true)
      gaps.push({
        path: guard.path,
        what: `the fallback of ${profile.name} (${guard.rule})`,
        instead: guard.instead,
      })
  return gaps
}
