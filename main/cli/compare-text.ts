import { firstDivergence } from '../../app/compare/numbers.ts'
import { ROW_DIFFERENCES, ROW_WORDS } from '../../app/compare/rows.ts'
import {
  checkText,
  differenceText,
  differingRowText,
  divergenceText,
  KIND_WORDS,
  measureWord,
  pText,
  ratioOfRow,
  repeatText,
  VERDICT_WORDS,
} from '../../app/compare/text.ts'
import type { TimeRow } from '../../app/compare/times.ts'
import type { CompareDocument } from './compare-command.ts'
import { printable, textTable } from './text-table.ts'

/** What `compare` prints for people: what makes both unlike first, then numbers, then times. */
export const compareText = (document: CompareDocument): string =>
  [
    `A: ${printable(document.a.name)}`,
    `B: ${printable(document.b.name)}`,
    '',
    ...differenceLines(document),
    '',
    ...numberLines(document),
    ...timeLines(document),
  ].join('\n')

const differenceLines = ({ differences, unlike }: CompareDocument): string[] =>
  differences.length === 0
    ? ['Both have the same configuration, device and versions.']
    : [
        ...unlike,
        'What differs:',
        ...differences.map((one) => `  ${KIND_WORDS[one.kind].padEnd(7)} ${printable(differenceText(one))}`),
      ]

const numberLines = ({ tensors, rows, diverges }: CompareDocument): string[] => {
  const first = tensors === null ? null : firstDivergence(tensors.tensors)
  const tolerance = tensors?.tensors.find(({ tensor }) => tensor === first?.tensor)?.tolerance ?? 0
  return [
    diverges ? 'Numbers diverge.' : 'Numbers do not diverge beyond rounding, as far as both recorded them.',
    ...(rows === null ? [] : rowLines(rows)),
    ...(tensors === null
      ? ['  No tensors of the same step and layer were captured in both.']
      : [
          ...(first === null ? [] : [`  First: ${divergenceText(first.tensor, first, tolerance)}.`]),
          ...textTable(
            ['tensor', 'cells', 'diverging', 'worst error', 'tolerance'],
            tensors.tensors.map((one) => [
              one.tensor,
              one.cells,
              one.diverging,
              one.worst.toExponential(2),
              one.tolerance === 0 ? 'exact' : one.tolerance.toExponential(0),
            ]),
          )
            .split('\n')
            .map((line) => `  ${line}`),
          ...tensors.notes.map((note) => `  ${printable(note)}`),
        ]),
    '',
  ]
}

const rowLines = ({
  unlike,
  first,
  rows,
  differing,
  checks,
}: NonNullable<CompareDocument['rows']>): string[] => [
  ...(unlike === null
    ? [
        first === null
          ? `  ${rows} rows of partials: none differs.`
          : `  ${rows} rows of partials: ${ROW_DIFFERENCES.filter((kind) => differing[kind] > 0)
              .map((kind) => `${differing[kind]} differ in ${ROW_WORDS[kind]}`)
              .join(', ')}.`,
        ...(first === null ? [] : [`  First: ${differingRowText(first)}.`]),
      ]
    : [`  ${unlike}`]),
  `  Check of A: ${checkText(checks.a)}.`,
  `  Check of B: ${checkText(checks.b)}.`,
]

const timeLines = ({ times }: CompareDocument): string[] => {
  if (times === null) return []
  if (times.steps === 0) return ['Both have no step in common whose time counts.']
  const changed = times.ranks.filter(({ verdict }) => verdict === 'slower' || verdict === 'faster')
  return [
    `Times of ${times.steps} steps that both have (${times.firstStep} to ${times.lastStep}), a step, mean of the ranks, µs:`,
    textTable(['stage', 'A', 'B', 'difference', '95% interval', 'B / A', 'verdict'], times.rows.map(cellsOf)),
    ...(changed.length === 0
      ? []
      : [
          '',
          'By rank, where it is significant:',
          textTable(
            ['rank', 'stage', 'A', 'B', 'difference', '95% interval', 'B / A', 'verdict'],
            changed.map((row) => [row.rank, ...cellsOf(row)]),
          ),
        ]),
    '',
    ...repeatLines(times),
  ]
}

const repeatLines = ({ repeatsOf, repeats }: NonNullable<CompareDocument['times']>): string[] => {
  if (repeatsOf === null)
    return ['Both are runs of one configuration in one place: what differs is what differs from run to run.']
  return repeats.length === 0
    ? [
        'Of one run of a side: what differs from run to run is not told apart (--repeats, two runs or more of each).',
      ]
    : ['Runs as repeats:', ...repeats.map((row) => `  ${measureWord(row.measure)} ${repeatText(row)}`)]
}

const us = (ns: number | null): string | null => (ns === null ? null : (ns / 1000).toFixed(1))

const cellsOf = (row: TimeRow): (string | number | null)[] => {
  const { measure, aNs, bNs, difference, verdict, p } = row
  return [
    measureWord(measure),
    us(aNs),
    us(bNs),
    us(difference?.ns ?? null),
    difference === null ? null : `${us(difference.lowNs)} to ${us(difference.highNs)}`,
    ratioOfRow(row)?.toFixed(3) ?? null,
    p === null ? VERDICT_WORDS[verdict] : `${VERDICT_WORDS[verdict]} (${pText(p)})`,
  ]
}
