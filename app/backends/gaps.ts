import type { RunConfig } from '../run/config.ts'
import { kernelHeads } from '../run/parse.ts'
import { guardsFor } from './check.ts'
import { profileNamed } from './index.ts'
import type { LseLayout } from './profile.ts'

/** What the engine would have to do for a back-end and cannot yet: the field, and what of it. */
export interface EngineGap {
  readonly path: string
  readonly what: string
  /** What to do about it, where there is something. */
  readonly instead?: string
}

/** Layouts that hold the same numbers in the same order as the engine's [T, H]. */
const SAME_AS_ROWS: readonly LseLayout[] = ['[T,H]', '[B,q,H]', '[B*q,H]']

const PATH = 'serving.backend'

/** What of a back-end's semantics this version's engine does not compute exactly. */
export const engineGaps = (config: RunConfig): EngineGap[] => {
  const profile = profileNamed(config.serving.backend)
  if (profile.framework === 'dcpscope') return []
  const { lse, headPadding, padRowLength, restartsAfterPrompt } = profile.semantics
  const heads = kernelHeads(config)
  const gaps: EngineGap[] = []
  const gap = (is: boolean, what: string, path = PATH): void => {
    if (is) gaps.push({ path, what })
  }
  gap(!lse.verified, `${profile.name}, whose kernel writes the lse in a base that nobody has verified,`)
  gap(lse.dtype === 'query', `${profile.name}, whose lse is in the type of the query,`)
  // With one query token [B,H,1] is [T,H]; whether heads are padded is asked below.
  const rows =
    SAME_AS_ROWS.includes(lse.layout) ||
    (lse.layout === '[B,H,q]' && config.workload.qLen === 1) ||
    lse.layout === '[B,pad]'
  gap(!rows, `${profile.name}, whose lse is laid out ${lse.layout},`)
  gap(
    headPadding.length > 0 && !headPadding.includes(heads),
    `${profile.name}, which pads ${heads} heads to ${headPadding.find((size) => heads <= size)},`,
  )
  gap(restartsAfterPrompt === true, `${profile.name}, which deals generated tokens out anew,`)
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
