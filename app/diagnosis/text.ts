import type { Diagnosis, Finding } from './result.ts'

const LISTED = 12

/** A diagnosis as a person reads it. */
export const diagnosisText = ({
  verdict,
  findings,
  notChecked,
  information,
  inputIssues,
}: Diagnosis): string =>
  [
    VERDICTS[verdict],
    ...findings.flatMap((finding, i) => ['', ...findingLines(finding, i + 1)]),
    ...section(
      'Worth knowing',
      information.map(({ message }) => message),
    ),
    ...section(
      'Not checked',
      notChecked.map(({ fault, needs }) => `${fault}: needs ${needs.join(', or ')}`),
    ),
    ...section('Files', first(inputIssues.map(({ message }) => message))),
  ].join('\n')

export const VERDICTS: Readonly<Record<Diagnosis['verdict'], string>> = {
  healthy: 'healthy: no known fault shows in what could be checked',
  faulty: 'faulty',
  undetermined: 'undetermined: the tensors decide nothing, or show an error that no known fault explains',
}

/** The first of many lines: a folder may hold thousands of files that are no dumps. */
const first = (lines: readonly string[]): string[] => [
  ...lines.slice(0, LISTED),
  ...(lines.length > LISTED ? [`and ${lines.length - LISTED} more, which --json lists`] : []),
]

const section = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${line}`)]

const findingLines = (finding: Finding, place: number): string[] => [
  `${place}. ${finding.fault}: ${finding.title}`,
  `   ${finding.summary}`,
  `   confidence ${share(finding.confidence)}, explains ${share(finding.explained)} of the error; ${where(finding)}`,
  ...finding.evidence.numbers.map(
    ({ name, value, expected, unit }) =>
      `   ${name}: ${value === null ? 'not finite' : quantity(value, unit)}` +
      `${expected === undefined ? '' : ` (right: ${unit === 'share' ? share(expected) : number(expected)})`}`,
  ),
  ...(finding.ambiguousWith.length === 0
    ? []
    : [`   the tensors do not tell it from ${finding.ambiguousWith.join(', ')}`]),
  ...finding.causes.map(({ text, source }) => `   usual cause: ${text} (${source})`),
  `   capture next: ${finding.captureNext}`,
]

const where = ({ ranks, steps, layers, rowCount, rows, heads }: Finding): string =>
  [
    some('rank', ranks),
    some('step', steps),
    some('layer', layers),
    some('row', rows, rowCount),
    some('head', heads),
  ]
    .filter((text) => text !== '')
    .join('; ')

const some = (what: string, values: readonly number[], count = values.length): string => {
  if (count === 0) return ''
  const shown = values.slice(0, LISTED).join(', ')
  return `${what}${count === 1 ? '' : 's'} ${shown}${count > LISTED ? ` and ${count - LISTED} more` : ''}`
}

const share = (value: number): string => `${Math.round(value * 100)}%`

const quantity = (value: number, unit: string | undefined): string => {
  if (unit === 'share') return share(value)
  return `${number(value)}${unit === undefined ? '' : ` ${unit}`}`
}

const number = (value: number): string =>
  Number.isInteger(value) ? `${value}` : `${Number(value.toPrecision(4))}`
