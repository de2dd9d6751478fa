import type { Checked, Reason } from '../../../app/backends/check.ts'
import type { Verdict } from '../../../app/backends/guard.ts'
import { PROFILES } from '../../../app/backends/index.ts'
import { capabilityMatrix, checkAll, type MatrixGroup } from '../../../app/backends/matrix.ts'
import type { Profile } from '../../../app/backends/profile.ts'
import { SEMANTIC_ROWS } from '../../../app/backends/words.ts'
import type { Table } from '../../../app/messages/csv.ts'
import type { RunConfig, RunConfigInput } from '../../../app/run/config.ts'
import { FORM_LINE } from '../../state/backend-pick.ts'
import type { Look } from './look.ts'

/** A verdict with its reasons, a fact in words, or nothing where a back-end has nothing of the kind. */
export type Cell =
  | { readonly kind: 'verdict'; readonly checked: Checked; readonly config: RunConfigInput | null }
  | { readonly kind: 'fact'; readonly short: string; readonly long: string }
  | { readonly kind: 'none'; readonly why: string }

export interface Line {
  readonly id: string
  readonly title: string
  /** Rule that it is about as a rule; empty for facts. */
  readonly rule: string
  /** One a profile of `PROFILES`. */
  readonly cells: readonly Cell[]
}

export interface LineGroup {
  readonly title: string
  readonly lines: readonly Line[]
}

const NOT_OFFERED: Cell = { kind: 'none', why: 'this back-end has no such choice' }
const NOT_VALID: Cell = { kind: 'none', why: 'the configuration of Run has fields to correct' }

let made: readonly MatrixGroup[] | undefined

/** The matrix is the same for ever, so it is made when it is first shown. */
const matrix = (): readonly MatrixGroup[] => {
  made ??= capabilityMatrix()
  return made
}

const formLine = (config: RunConfig | null): Line => ({
  id: FORM_LINE,
  title: 'Configuration of Run',
  rule: '',
  cells:
    config === null
      ? PROFILES.map(() => NOT_VALID)
      : checkAll(config).map(
          (checked): Cell => ({
            kind: 'verdict',
            checked,
            config: { ...config, serving: { ...config.serving, backend: checked.backend } },
          }),
        ),
})

/** All lines: the configuration of Run, every feature, and what each back-end computes. */
export const linesOf = (config: RunConfig | null): readonly LineGroup[] => [
  { title: 'This configuration', lines: [formLine(config)] },
  ...matrix().map(({ title, rows }) => ({
    title,
    lines: rows.map(
      ({ feature, cells }): Line => ({
        id: feature.id,
        title: feature.title,
        rule: feature.rule,
        cells: cells.map(
          ({ judged }): Cell => (judged === null ? NOT_OFFERED : { kind: 'verdict', ...judged }),
        ),
      }),
    ),
  })),
  {
    title: 'Semantics',
    lines: SEMANTIC_ROWS.map(
      ({ id, title, short, long }): Line => ({
        id,
        title,
        rule: '',
        cells: PROFILES.map(
          (profile): Cell => ({ kind: 'fact', short: short(profile), long: long(profile) }),
        ),
      }),
    ),
  },
]

export interface Shown {
  readonly columns: readonly Profile[]
  readonly groups: readonly LineGroup[]
}

export const verdictOf = (cell: Cell): Verdict | null =>
  cell.kind === 'verdict' ? cell.checked.verdict : null

const namesColumn = (word: string): boolean => PROFILES.some(({ name }) => name.includes(word))

const rulesIn = ({ cells }: Line): string =>
  cells
    .flatMap((cell) => (cell.kind === 'verdict' ? cell.checked.reasons.map(({ rule }) => rule) : []))
    .join(' ')

/**
 * What a look leaves of the lines and columns. A word that is part of the name of a back-end picks columns, any other picks
 * lines by title, rule or group.
 */
export const shownOf = (groups: readonly LineGroup[], { words, wanted, framework }: Look): Shown => {
  const all = words.toLowerCase().split(/\s+/).filter(Boolean)
  const forColumns = all.filter(namesColumn)
  const forLines = all.filter((word) => !namesColumn(word))
  const columns = PROFILES.filter(
    (profile) =>
      (framework === 'all' || profile.framework === framework) &&
      forColumns.every((word) => profile.name.includes(word)),
  )
  const at = columns.map((profile) => PROFILES.indexOf(profile))
  const isWanted = ({ cells }: Line): boolean =>
    wanted === 'all' || at.some((i) => cells[i] !== undefined && verdictOf(cells[i]) === wanted)
  return {
    columns,
    groups: groups
      .map(({ title, lines }) => ({
        title,
        lines: lines
          .filter((line) => {
            const text = `${title} ${line.title} ${line.rule} ${rulesIn(line)}`.toLowerCase()
            return forLines.every((word) => text.includes(word))
          })
          .filter(isWanted)
          .map((line) => ({ ...line, cells: at.flatMap((i) => line.cells[i] ?? []) })),
      }))
      .filter(({ lines }) => lines.length > 0),
  }
}

/** The first `count` lines, in their groups. */
export const firstLines = (groups: readonly LineGroup[], count: number): readonly LineGroup[] => {
  let left = count
  return groups.flatMap(({ title, lines }) => {
    const first = lines.slice(0, left)
    left -= first.length
    return first.length === 0 ? [] : [{ title, lines: first }]
  })
}

/** A line and a back-end, or one of them alone. */
export interface Place {
  readonly row: string | null
  readonly backend: string | null
}

export interface Picked {
  readonly line: Line | null
  readonly column: Profile | null
  readonly cell: Cell | null
}

/** What is picked of what is shown. */
export const pickedOf = ({ columns, groups }: Shown, { row, backend }: Place): Picked => {
  const line = groups.flatMap(({ lines }) => lines).find(({ id }) => id === row) ?? null
  const column = columns.find(({ name }) => name === backend) ?? null
  const cell = line === null || column === null ? null : (line.cells[columns.indexOf(column)] ?? null)
  return { line, column, cell }
}

const moved = (length: number, from: number, by: number): number =>
  Math.min(length - 1, Math.max(0, from < 0 ? 0 : from + by))

/** The cell `lines` down and `columns` to the right of the picked one; the first press picks the first cell. */
export const cellAt = (
  shown: Shown,
  { row, backend }: Place,
  by: { readonly lines: number; readonly columns: number },
): Place => {
  const ids = shown.groups.flatMap(({ lines }) => lines.map(({ id }) => id))
  const names = shown.columns.map(({ name }) => name)
  return {
    row: ids[moved(ids.length, row === null ? -1 : ids.indexOf(row), by.lines)] ?? null,
    backend: names[moved(names.length, backend === null ? -1 : names.indexOf(backend), by.columns)] ?? null,
  }
}

/** Rules of a cell, worst first, each once. */
export const rulesOf = (cell: Cell): string[] =>
  cell.kind === 'verdict' ? [...new Set(cell.checked.reasons.map(({ rule }) => rule))] : []

export const reasonText = ({ rule, verdict, message, lost, instead, source }: Reason): string =>
  [
    `${verdict} ${rule}: ${message}`,
    ...(lost === undefined ? [] : [`lost: ${lost}`]),
    `instead: ${instead}`,
    `source: ${source}`,
  ].join('\n')

/** A cell in one line of text, for pointers and tables. */
export const cellText = (cell: Cell): string => {
  if (cell.kind === 'fact') return cell.long
  if (cell.kind === 'none') return '–'
  const rules = rulesOf(cell)
  return `${cell.checked.verdict}${rules.length === 0 ? '' : ` (${rules.join(', ')})`}`
}

/** What is shown, in words. */
export const matrixTable = ({ columns, groups }: Shown): Table => ({
  header: ['feature', ...columns.map(({ name }) => name)],
  rows: groups.flatMap(({ lines }) => lines.map(({ title, cells }) => [title, ...cells.map(cellText)])),
})
