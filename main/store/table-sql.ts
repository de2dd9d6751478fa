import { EVENT_KINDS, PROVENANCES, SEVERITIES, STAGES } from '../../app/trace/stages.ts'
import type { Column, ColumnType, Table } from '../../app/trace/tables.ts'
import { sqlName, sqlText } from './duck.ts'

/** How the columns of app/trace/tables.ts stand in DuckDB and Parquet. */
export const ENUM_VALUES = {
  stage: STAGES,
  provenance: PROVENANCES,
  kind: EVENT_KINDS,
  severity: SEVERITIES,
} as const
export type EnumType = keyof typeof ENUM_VALUES

export const isEnumType = (type: ColumnType): type is EnumType => Object.hasOwn(ENUM_VALUES, type)

/** Statements that make the enumerations known to a DuckDB instance; an enumeration of at most 256 names is one byte. */
export const enumStatements = (): string[] =>
  Object.entries(ENUM_VALUES).map(
    ([name, values]) => `CREATE TYPE ${sqlName(name)} AS ENUM (${values.map(sqlText).join(', ')})`,
  )

/** Type in Parquet. */
export const storedType = (type: ColumnType): string => {
  switch (type) {
    case 'i32':
      return 'INTEGER'
    case 'i64':
      return 'BIGINT'
    case 'f64':
      return 'DOUBLE'
    case 'f32':
      return 'FLOAT'
    case 'bool':
      return 'BOOLEAN'
    case 'text':
    case 'stage':
    case 'provenance':
    case 'kind':
    case 'severity':
      return 'VARCHAR'
  }
}

/** Type of the staging table, whose vectors take the bytes of the typed arrays as they are. */
const stagedType = (type: ColumnType): string => (isEnumType(type) ? sqlName(type) : storedType(type))

const storedExpression = ({ name, type, none }: Column): string => {
  const column = sqlName(name)
  if (isEnumType(type)) return `${column}::VARCHAR AS ${column}`
  if (none === undefined) return column
  return Number.isNaN(none)
    ? `CASE WHEN isnan(${column}) THEN NULL ELSE ${column} END AS ${column}`
    : `NULLIF(${column}, ${none}) AS ${column}`
}

export const stagingColumns = (table: Table): string =>
  table.columns.map((c) => `${sqlName(c.name)} ${stagedType(c.type)}`).join(', ')

export const storedColumns = (table: Table): string => table.columns.map(storedExpression).join(', ')

/** Column by which the rows of a part are sorted; undefined where the order of arrival is kept. */
export const sortColumn = (table: Table): string | undefined =>
  table.columns.find((c) => c.name === 'start_ns' || c.name === 'time_ns')?.name

/** `rank` of a partitioned table comes from the path. */
export const queryColumns = (table: Table): { name: string; type: string }[] => [
  ...(table.perRank ? [{ name: 'rank', type: 'INTEGER' }] : []),
  ...table.columns.map((c) => ({ name: c.name, type: storedType(c.type) })),
]
