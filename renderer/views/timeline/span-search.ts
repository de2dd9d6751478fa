import { STAGES } from '../../../app/trace/stages.ts'
import { request } from '../../state/store-client.ts'
import { type Span, waitOf } from './facts.ts'
import type { HoveredItem } from './scene.ts'

/** A span of the trace as an item of a tile. */
export const itemOfSpan = (rank: number, span: Span): HoveredItem | null => {
  const stage = STAGES[span.stage]
  if (stage === undefined) return null
  const { startNs, durNs, step, layer } = span
  return {
    rank,
    startNs,
    durNs,
    busyNs: durNs,
    waitNs: waitOf(span)?.waitNs ?? 0,
    stage,
    step,
    layer,
    count: 1,
    sources: [span.provenance],
  }
}

/** The span of `rank` at `ns`, whatever the zoom; null in a gap. */
export const spanAt = async (run: string, rank: number, ns: number): Promise<HoveredItem | null> => {
  const span = await request('spanAt', { run, rank, atNs: ns })
  return span === null ? null : itemOfSpan(rank, span)
}

/** The span of `rank` that begins next after (1) or last before (-1) `ns`; null at the ends of the run. */
export const spanBeside = async (
  run: string,
  rank: number,
  ns: number,
  direction: 1 | -1,
): Promise<HoveredItem | null> => {
  const span = await request('spanAt', { run, rank, atNs: ns, beside: direction })
  return span === null ? null : itemOfSpan(rank, span)
}
