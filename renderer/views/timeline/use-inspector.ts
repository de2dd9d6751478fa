import { formatNs } from '../../drawing/format.ts'
import { useInspector } from '../../shell/Inspector.tsx'
import { useAnswer } from '../../state/use-answer.ts'
import { areaFacts, areaRows, areaSql, type Span, spanFacts } from './facts.ts'
import type { Area } from './scene.ts'

/** Puts the marked area, or else the selected span, into the inspector. */
export const useTimelineInspector = (
  run: string | null,
  area: Area | null,
  rank: number | null,
  span: Span | null,
): void => {
  const totals = useAnswer(
    'query',
    run === null || area === null
      ? null
      : { run, sql: areaSql(area.range.startNs, area.range.endNs, area.ranks), limit: 100 },
  )
  const rows = totals.answer === null ? [] : areaRows(totals.answer.data)
  const durNs = area === null ? 0 : area.range.endNs - area.range.startNs
  const shown =
    area !== null
      ? areaFacts(rows, durNs, area.ranks.length)
      : span !== null && rank !== null
        ? spanFacts(rank, span)
        : null
  useInspector(area !== null ? `Area, ${formatNs(durNs)}` : 'Span', shown, [area, totals.answer, rank, span])
}
