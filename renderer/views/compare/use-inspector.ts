import { measureWord, repeatText, VERDICT_REASONS } from '../../../app/compare/text.ts'
import type { Measure } from '../../../app/compare/times.ts'
import { type InspectorRow, useInspector } from '../../shell/Inspector.tsx'
import { useCompare } from '../../state/compare.ts'
import {
  differenceCell,
  firstPlace,
  intervalCell,
  ratioCell,
  sourceOf,
  type Times,
  testedText,
  usText,
  verdictCell,
} from './model.ts'
import type { Comparison } from './use-compare.ts'

/** Everything about a stage in both. */
export const timeInspectorRows = (times: Times, measure: Measure): InspectorRow[] => {
  const row = times.rows.find((one) => one.measure === measure)
  if (row === undefined) return []
  const source = sourceOf(times, measure)
  const repeats = times.repeats.find((one) => one.measure === measure)
  return [
    { label: 'stage', value: measureWord(measure) },
    { label: 'A', value: usText(row.aNs), copy: String(row.aNs), source },
    { label: 'B', value: usText(row.bNs), copy: String(row.bNs), source },
    {
      label: 'difference',
      value: differenceCell(row),
      copy: String(row.difference?.ns),
      note: 'of the same steps',
    },
    { label: '95% interval', value: intervalCell(row) },
    { label: 'B / A', value: ratioCell(row) },
    { label: 'verdict', value: verdictCell(row, times) },
    { label: 'because', value: `${VERDICT_REASONS[row.verdict]} ${testedText(row)}`.trim() },
    ...(repeats === undefined ? [] : [{ label: 'repeats', value: repeatText(repeats) }]),
  ]
}

/** Puts the picked stage, and where numbers diverge first, into the inspector. */
export const useCompareInspector = ({ times, rows, tensors }: Comparison): void => {
  const measure = useCompare((s) => s.measure)
  const first = firstPlace(rows, tensors)
  const told = [
    ...(times === null ? [] : timeInspectorRows(times, measure)),
    ...(first === null ? [] : [{ label: 'first divergence', value: first.text }]),
  ]
  useInspector({ view: 'compare', title: 'Comparison', rows: told.length === 0 ? null : told, about: [] }, [
    times,
    rows,
    tensors,
    measure,
  ])
}
