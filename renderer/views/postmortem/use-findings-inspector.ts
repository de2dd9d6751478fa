import { formatPercent } from '../../drawing/format.ts'
import { type InspectorRow, useInspector } from '../../shell/Inspector.tsx'
import type { Diagnosed } from '../../state/diagnosis.ts'
import { worthText } from './findings.ts'

/** What the inspector says of a diagnosis; null while there is none. */
export const diagnosisRows = (result: Diagnosed | undefined): InspectorRow[] | null => {
  if (result === undefined || !result.ok) return null
  const { verdict, findings, notChecked, information } = result.diagnosis
  return [
    { label: 'verdict', value: verdict },
    ...findings.flatMap((finding): InspectorRow[] => [
      {
        label: finding.fault,
        value: formatPercent(finding.confidence),
        copy: worthText(finding),
        note: `sure, explains ${formatPercent(finding.explained)}`,
      },
      { label: 'seen', value: finding.summary },
    ]),
    { label: 'not checked', value: String(notChecked.length), note: 'faults' },
    ...information.map(({ kind, message }) => ({ label: kind, value: message })),
  ]
}

/** Puts the diagnosis into the inspector. */
export const useFindingsInspector = (result: Diagnosed | undefined): void =>
  useInspector({ view: 'postmortem', title: 'Diagnosis', rows: diagnosisRows(result), about: [] }, [result])
