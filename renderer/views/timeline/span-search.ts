import type { StoreResult } from '../../../app/protocol/store.ts'
import { OUTER_STAGES, STAGES } from '../../../app/trace/stages.ts'
import { request } from '../../state/store-client.ts'
import { type Span, waitOf } from './facts.ts'
import type { HoveredItem } from './scene.ts'

/** SQL for the start of the span of `rank` that begins next after (1) or last before (-1) `startNs`. */
export const neighbourSql = (rank: number, startNs: number, direction: 1 | -1): string => {
  const [compare, order] = direction === 1 ? ['>', 'ASC'] : ['<', 'DESC']
  return `SELECT start_ns FROM spans WHERE rank = ${Math.trunc(rank)} AND start_ns ${compare} ${Math.trunc(startNs)}
AND stage NOT IN (${OUTER_STAGES.map((stage) => `'${stage}'`).join(', ')})
ORDER BY start_ns ${order} LIMIT 1`
}

/** The only number of a query's answer; null when there is none. */
export const onlyNumber = ({ rows }: StoreResult<'query'>): number | null => {
  const value = Number(rows[0]?.[0] ?? Number.NaN)
  return Number.isFinite(value) ? value : null
}

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

/** The span next to the one that starts at `startNs`; null at the ends of the run. */
export const spanBeside = async (
  run: string,
  rank: number,
  startNs: number,
  direction: 1 | -1,
): Promise<HoveredItem | null> => {
  const answer = await request('query', { run, sql: neighbourSql(rank, startNs, direction), limit: 1 })
  const next = onlyNumber(answer)
  return next === null ? null : spanAt(run, rank, next)
}
