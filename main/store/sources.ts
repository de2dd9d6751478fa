import { TABLES, type TableName } from '../../app/trace/tables.ts'
import { listParts, type Part } from './bundle-files.ts'
import { sqlName, sqlText } from './duck.ts'
import { queryColumns, storedType } from './table-sql.ts'

/** Parenthesised SELECT over parts of one table, typed also when there is none yet. */
export const relationOf = (table: TableName, parts: readonly Part[]): string => {
  const columns = queryColumns(TABLES[table])
  if (parts.length === 0)
    return `(SELECT ${columns.map(({ name, type }) => `NULL::${type} AS ${sqlName(name)}`).join(', ')} WHERE false)`
  return `(${[...partsByRank(parts)].map((group) => partsQuery(table, ...group)).join(' UNION ALL ')})`
}

const partsByRank = (parts: readonly Part[]): Map<number, Part[]> => {
  const groups = new Map<number, Part[]>()
  for (const part of parts) groups.set(part.rank, [...(groups.get(part.rank) ?? []), part])
  return groups
}

/**
 * Files by name, since a glob would trip over brackets in the path of the bundle; and the rank as a number, since
 * DuckDB's Hive partitions also take folders above the bundle (`rank=9/run.dcp`, `step=5/run.dcp`) for columns.
 */
const partsQuery = (table: TableName, rank: number, parts: readonly Part[]): string => {
  const ofParts = TABLES[table].columns.map(({ name }) => sqlName(name))
  const columns = TABLES[table].perRank ? [`${rank}::INTEGER AS rank`, ...ofParts] : ofParts
  const files = parts.map((part) => sqlText(part.path)).join(', ')
  return `SELECT ${columns.join(', ')} FROM ${withLaterColumns(table, `read_parquet([${files}], hive_partitioning = false)`)}`
}

/** Rows of an older bundle with the columns that came later, NULL; others as they are. */
const withLaterColumns = (table: TableName, rows: string): string => {
  const later = TABLES[table].columns.filter(({ since }) => since !== undefined)
  if (later.length === 0) return rows
  const empty = later.map(({ name, type }) => `NULL::${storedType(type)} AS ${sqlName(name)}`).join(', ')
  return `(SELECT * FROM ${rows} UNION ALL BY NAME SELECT ${empty} WHERE false)`
}

/**
 * Condition on `spans` for those whose times count in numbers of the whole run: CUPTI makes the steps slower whose kernels
 * it records, so they count only where there are no others.
 */
export const countedSpans = (bundle: string): string => {
  const steps = relation(bundle, 'steps')
  const plain = `(SELECT count(*) FROM ${steps} WHERE kernel_trace IS NOT TRUE)`
  return `(step NOT IN (SELECT step FROM ${steps} WHERE kernel_trace) OR ${plain} = 0)`
}

/** The table of a bundle as it is on disk now. */
export const relation = (bundle: string, table: TableName): string =>
  relationOf(table, listParts(bundle, table))
