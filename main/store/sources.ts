import { TABLES, type TableName } from '../../app/trace/tables.ts'
import { listParts, type Part } from './bundle-files.ts'
import { sqlName, sqlText } from './duck.ts'
import { queryColumns } from './table-sql.ts'

/** Parenthesised SELECT over parts of one table, typed also when there is none yet. */
export const relationOf = (table: TableName, parts: readonly Part[]): string => {
  const columns = queryColumns(TABLES[table])
  if (parts.length === 0)
    return `(SELECT ${columns.map(({ name, type }) => `NULL::${type} AS ${sqlName(name)}`).join(', ')} WHERE false)`
  // Files by name: a glob would trip over brackets in the path of the bundle.
  const files = parts.map((part) => sqlText(part.path)).join(', ')
  const partition = TABLES[table].perRank
    ? "hive_partitioning = true, hive_types = {'rank': INTEGER}"
    : 'hive_partitioning = false'
  return `(SELECT ${columns.map((c) => sqlName(c.name)).join(', ')} FROM read_parquet([${files}], ${partition}))`
}

/** The table of a bundle as it is on disk now. */
export const relation = (bundle: string, table: TableName): string =>
  relationOf(table, listParts(bundle, table))
