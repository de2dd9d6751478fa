import { formatNs } from '../../drawing/format.ts'
import { sourceNote } from '../../drawing/provenance.ts'
import { type InspectorRow, useInspector } from '../../shell/Inspector.tsx'
import { useAnswer } from '../../state/use-answer.ts'
import { areaFacts, type Kernel, kernelFacts, type Span, spanFacts } from './facts.ts'
import type { Look } from './look.ts'
import { meetingFacts } from './meeting.ts'
import type { Meeting } from './scene.ts'

const markRows = (marks: readonly number[], source: string | undefined): InspectorRow[] =>
  marks.map((ns, i) => {
    const before = marks[i - 1]
    const row = { label: `mark ${i + 1}`, value: formatNs(ns), copy: String(Math.round(ns)), source }
    return before === undefined ? row : { ...row, note: `+${formatNs(ns - before)}` }
  })

/**
 * Puts the marked area, or else the picked kernel or the selected span, and the marks into the inspector. `placed` says where the places of
 * spans in time come from, if they were not measured.
 */
export const useTimelineInspector = (
  run: string | null,
  { area, marks }: Look,
  rank: number | null,
  span: Span | null,
  placed: string | undefined,
  kernel: Kernel | null,
  meeting: Meeting | null,
  note: string | undefined,
): void => {
  const totals = useAnswer(
    'spanStats',
    run === null || area === null
      ? null
      : {
          run,
          startNs: area.range.startNs,
          endNs: area.range.endNs,
          ranks: [...area.ranks],
          by: 'stage',
        },
  )
  const durNs = area === null ? 0 : area.range.endNs - area.range.startNs
  const about = (): InspectorRow[] => {
    if (area !== null) {
      const rows = totals.answer?.data.rows ?? []
      const trouble = totals.error === null ? [] : [{ label: 'totals', value: totals.error }]
      return [...areaFacts(rows, durNs, area.ranks.length, placed), ...trouble]
    }
    if (kernel !== null && rank !== null) return kernelFacts(rank, kernel, placed)
    if (span === null || rank === null) return []
    const met = meeting === null ? [] : meetingFacts(meeting, sourceNote([span.provenance]))
    const written = note === undefined ? [] : [{ label: 'note', value: note, copy: note }]
    return [...written, ...spanFacts(rank, span, placed), ...met]
  }
  const rows = [...about(), ...markRows(marks, placed)]
  const title =
    area !== null ? `Area, ${formatNs(durNs)}` : kernel !== null ? 'Kernel' : span !== null ? 'Span' : 'Marks'
  useInspector(
    { view: 'timeline', title, rows: rows.length === 0 ? null : rows, about: ['rank', 'timeNs'] },
    [area, totals.answer, totals.error, rank, span, marks, placed, kernel, meeting, note],
  )
}
