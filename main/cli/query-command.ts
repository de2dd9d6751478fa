import { type Cell, csv } from '../../app/messages/csv.ts'
import { badInput } from './failure.ts'
import { openStore } from './store-session.ts'
import { textTable } from './text-table.ts'

export const QUERY_FORMATS = ['table', 'json', 'csv'] as const
export type QueryFormat = (typeof QUERY_FORMATS)[number]

/** Most rows that one query prints. */
export const QUERY_ROWS = 1_000_000

export interface QueryAnswer {
  readonly stdout: string
  /** Rows were left out: more than QUERY_ROWS. */
  readonly truncated: boolean
}

/** Runs `sql` over the tables of a bundle. */
export const queryCommand = async (bundle: string, sql: string, format: string): Promise<QueryAnswer> => {
  const known = QUERY_FORMATS.find((name) => name === format)
  if (known === undefined)
    throw badInput(`--format: must be ${QUERY_FORMATS.join(' or ')}, got ${JSON.stringify(format)}`)
  const store = await openStore()
  try {
    const { columns, rows, truncated } = await store.query(bundle, sql, QUERY_ROWS)
    return { stdout: printed(known, columns, rows), truncated }
  } finally {
    await store.close()
  }
}

/** JavaScript refuses to make a text of more than about 500 MB. */
const printed: typeof formatted = (format, columns, rows) => {
  try {
    return formatted(format, columns, rows)
  } catch (error) {
    if (error instanceof RangeError)
      throw badInput('the answer is too long to print; ask for fewer rows or shorter values')
    throw error
  }
}

const formatted = (
  format: QueryFormat,
  columns: readonly string[],
  rows: readonly (readonly unknown[])[],
): string => {
  switch (format) {
    case 'json':
      return JSON.stringify(rowObjects(distinct(columns), rows))
    case 'csv':
      return csv(columns, rows.map(cells))
    case 'table':
      return textTable(columns, rows.map(cells))
  }
}

/** A Map first, so that a column named __proto__ is a column. */
const rowObjects = (columns: readonly string[], rows: readonly (readonly unknown[])[]): object[] =>
  rows.map((row) => Object.fromEntries(new Map(columns.map((name, i) => [name, row[i] ?? null]))))

/** Names of equal columns get a number, since an object holds a name once. */
const distinct = (columns: readonly string[]): string[] => {
  const seen = new Set<string>()
  return columns.map((column) => {
    let name = column
    for (let n = 2; seen.has(name); n++) name = `${column}_${n}`
    seen.add(name)
    return name
  })
}

const cells = (row: readonly unknown[]): Cell[] => row.map(cell)

const cell = (value: unknown): Cell => {
  switch (typeof value) {
    case 'string':
    case 'number':
    case 'bigint':
    case 'boolean':
      return value
    default:
      return value === null || value === undefined ? null : JSON.stringify(value)
  }
}
