import { type DuckDBAppender, type DuckDBConnection, DuckDBDataChunk } from '@duckdb/node-api'
import duckdb from '@duckdb/node-bindings'
import { type ColumnData, TABLES, type TableName, type TraceChunk } from '../../app/trace/tables.ts'
import { sqlName, sqlText } from './duck.ts'
import { sortColumn, stagingColumns, storedColumns } from './table-sql.ts'

const VECTOR_ROWS = 2048
/** Rows copied before other work of the thread gets its turn: about 5 ms. */
const YIELD_ROWS = 32 * VECTOR_ROWS

/**
 * Version 2 packs rising integers as differences: a third of the bytes of version 1 and less work. Names (stages,
 * kinds) fit the small dictionary; trying larger ones on times and counts would cost more than all the rest.
 */
const PARQUET_OPTIONS =
  'FORMAT parquet, PARQUET_VERSION V2, COMPRESSION snappy, DICTIONARY_SIZE_LIMIT 256, ROW_GROUP_SIZE 122880'

/** Checked chunks of one rank, -1 for a table that is not per rank. */
export interface RankChunks {
  readonly rank: number
  readonly chunks: readonly TraceChunk[]
}

/**
 * Writes chunks of one table and rank to a Parquet file. The typed arrays are copied as bytes; DuckDB encodes them.
 * `staging` names the table in between, which the connection uses for nothing else.
 */
export const writePart = (
  connection: DuckDBConnection,
  staging: string,
  table: TableName,
  group: RankChunks,
  file: string,
): Promise<void> =>
  throughStaging(connection, staging, table, [group], false, (source) =>
    connection.run(`COPY (${source}) TO ${sqlText(file)} (${PARQUET_OPTIONS})`),
  )

/**
 * Writes chunks of several ranks to `folder/rank=R/data_0.parquet` in one go: for many small groups a tenth of the
 * work of a file each. All rows together must fit MAX_PARTITION_ROWS.
 */
export const writePartitions = (
  connection: DuckDBConnection,
  staging: string,
  table: TableName,
  groups: readonly RankChunks[],
  folder: string,
): Promise<void> =>
  throughStaging(connection, staging, table, groups, true, (source) =>
    connection.run(`COPY (${source}) TO ${sqlText(folder)} (${PARQUET_OPTIONS}, PARTITION_BY (${RANK}))`),
  )

/** Up to one row group of the staging table DuckDB scans with one thread, and so keeps the order of rows. */
export const MAX_PARTITION_ROWS = 122_880

const RANK = 'rank'

const throughStaging = async (
  connection: DuckDBConnection,
  staging: string,
  table: TableName,
  groups: readonly RankChunks[],
  withRank: boolean,
  copy: (source: string) => Promise<unknown>,
): Promise<void> => {
  const name = sqlName(staging)
  const rank = withRank ? `, ${RANK}` : ''
  const columns = stagingColumns(TABLES[table]) + (withRank ? `, ${RANK} INTEGER` : '')
  await connection.run(`CREATE OR REPLACE TEMP TABLE ${name} (${columns})`)
  try {
    await appendGroups(connection, staging, table, groups, withRank)
    const sort = sortColumn(TABLES[table])
    const sorted = sort === undefined || groups.every(({ chunks }) => isSorted(chunks, sort))
    const order = sort === undefined || sorted ? '' : ` ORDER BY ${sqlName(sort)}`
    await copy(`SELECT ${storedColumns(TABLES[table])}${rank} FROM ${name}${order}`)
  } finally {
    await connection.run(`DROP TABLE ${name}`)
  }
}

const appendGroups = async (
  connection: DuckDBConnection,
  staging: string,
  table: TableName,
  groups: readonly RankChunks[],
  withRank: boolean,
): Promise<void> => {
  const appender = await connection.createAppender(staging, 'main', 'temp')
  const vectors = emptyVectors(appender)
  const { columns } = TABLES[table]
  let sinceYield = 0
  for (const { rank, chunks } of groups) {
    const ranks = new Int32Array(VECTOR_ROWS).fill(rank)
    for (const chunk of chunks)
      for (let from = 0; from < chunk.rows; from += VECTOR_ROWS) {
        const rows = Math.min(VECTOR_ROWS, chunk.rows - from)
        vectors.reset()
        vectors.rowCount = rows
        columns.forEach(({ name }, i) => {
          const data = chunk.columns[name]
          if (data !== undefined) fillVector(vectorOf(vectors, i), data, from, rows)
        })
        if (withRank) fillVector(vectorOf(vectors, columns.length), ranks, 0, rows)
        appender.appendDataChunk(vectors)
        sinceYield += rows
        if (sinceYield < YIELD_ROWS) continue
        sinceYield = 0
        await new Promise((resolve) => setImmediate(resolve))
      }
  }
  appender.closeSync()
}

const vectorOf = (vectors: DuckDBDataChunk, i: number): duckdb.Vector =>
  duckdb.data_chunk_get_vector(vectors.chunk, i)

const emptyVectors = (appender: DuckDBAppender): DuckDBDataChunk =>
  DuckDBDataChunk.create(Array.from({ length: appender.columnCount }, (_, i) => appender.columnType(i)))

const fillVector = (vector: duckdb.Vector, data: ColumnData, from: number, rows: number): void => {
  if (isText(data)) {
    for (let i = 0; i < rows; i++) duckdb.vector_assign_string_element(vector, i, data[from + i] ?? '')
    return
  }
  const width = data.BYTES_PER_ELEMENT
  duckdb.copy_data_to_vector(vector, 0, ownBuffer(data), data.byteOffset + from * width, rows * width)
}

const isText = (data: ColumnData): data is readonly string[] => Array.isArray(data)

const ownBuffer = (data: Exclude<ColumnData, readonly string[]>): ArrayBuffer => {
  if (data.buffer instanceof ArrayBuffer) return data.buffer
  throw new Error('a column lies in shared memory')
}

/** Whether an int64 column never falls over all the chunks. */
const isSorted = (chunks: readonly TraceChunk[], column: string): boolean => {
  let last = Number.NEGATIVE_INFINITY
  for (const { columns } of chunks) {
    const data = columns[column]
    if (!(data instanceof BigInt64Array)) return false
    // Two halves as numbers, since a bigint for each value would be ten times slower.
    const halves = new Int32Array(data.buffer, data.byteOffset, data.length * 2)
    for (let i = 0; i < halves.length; i += 2) {
      const value = (halves[i + 1] ?? 0) * 2 ** 32 + ((halves[i] ?? 0) >>> 0)
      if (value < last) return false
      last = value
    }
  }
  return true
}
