import type { Reason } from '../../../app/backends/check.ts'
import type { Profile } from '../../../app/backends/profile.ts'
import { SEMANTIC_ROWS, sourcesOf } from '../../../app/backends/words.ts'
import type { RunConfigInput } from '../../../app/run/config.ts'
import { issueText, parseRunConfig } from '../../../app/run/parse.ts'
import { engineIssues } from '../../../app/run/support.ts'
import { sourceAddress } from '../../controls/source-address.ts'
import { type InspectorRow, useInspector } from '../../shell/Inspector.tsx'
import { type Cell, cellText, type Picked, type Shown } from './model.ts'

const sourceRow = (source: string): InspectorRow => ({
  label: 'source',
  value: source,
  copy: sourceAddress(source),
})

const reasonRows = ({ rule, verdict, message, lost, instead, source, path }: Reason): InspectorRow[] => [
  { label: 'rule', value: rule, note: verdict },
  { label: 'because', value: message },
  ...(lost === undefined ? [] : [{ label: 'lost', value: lost }]),
  { label: 'instead', value: instead },
  sourceRow(source),
  { label: 'field', value: path },
]

/** What our engine makes of it. */
const engineRow = (config: RunConfigInput, refused: boolean): InspectorRow => {
  const parsed = parseRunConfig(config)
  const issues = parsed.ok ? engineIssues(parsed.config) : parsed.issues
  const [first] = issues
  return {
    label: 'our engine',
    value:
      first !== undefined
        ? `cannot: ${issueText(first)}`
        : refused
          ? 'run refuses it as well'
          : 'computes it with these semantics',
    ...(first === undefined ? {} : { copy: issues.map(issueText).join('\n') }),
  }
}

const configRow = (config: RunConfigInput): InspectorRow => ({
  label: 'configuration',
  value: 'as JSON',
  copy: JSON.stringify(config, null, 2),
})

const cellRows = (cell: Cell): InspectorRow[] => {
  if (cell.kind === 'fact') return [{ label: 'value', value: cell.long }]
  if (cell.kind === 'none') return [{ label: 'verdict', value: cell.why }]
  const { checked, config } = cell
  return [
    { label: 'verdict', value: checked.verdict },
    ...checked.reasons.flatMap(reasonRows),
    ...(config === null ? [] : [engineRow(config, checked.verdict === 'refused'), configRow(config)]),
  ]
}

const profileRows = (profile: Profile): InspectorRow[] => [
  { label: 'back-end', value: profile.name, note: profile.title },
  ...(profile.kernels.length > 1 ? [{ label: 'kernels', value: profile.kernels.join(', ') }] : []),
  ...SEMANTIC_ROWS.map((row) => ({ label: row.title, value: row.long(profile) })),
  ...sourcesOf(profile).map((source) => sourceRow(source)),
]

/** Everything about the picked cell, or about the picked back-end or line as a whole. */
export const inspectorRows = ({ line, column, cell }: Picked, shown: Shown): InspectorRow[] | null => {
  if (cell !== null && line !== null && column !== null)
    return [
      { label: 'back-end', value: column.name, note: column.title },
      { label: 'asked for', value: line.title },
      ...cellRows(cell),
      ...(cell.kind === 'fact' ? sourcesOf(column).map((source) => sourceRow(source)) : []),
    ]
  if (column !== null) return profileRows(column)
  if (line !== null)
    return [
      { label: 'asked for', value: line.title },
      ...shown.columns.map(({ name }, i) => {
        const one = line.cells[i]
        return { label: name, value: one === undefined ? '' : cellText(one) }
      }),
    ]
  return null
}

/** Puts what is picked into the inspector. */
export const useBackendsInspector = (picked: Picked, shown: Shown): void =>
  useInspector({ view: 'backends', title: 'Back-end', rows: inspectorRows(picked, shown), about: [] }, [
    picked.line,
    picked.column,
    picked.cell,
    shown,
  ])
