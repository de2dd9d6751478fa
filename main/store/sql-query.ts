import { resolve, sep } from 'node:path'
import { type DuckDBConnection, StatementType } from '@duckdb/node-api'
import type { StoreParams, StoreResult } from '../../app/protocol/store.ts'
import { TABLE_NAMES } from '../../app/trace/tables.ts'
import { interruptible, openDuck, sqlName, sqlText, withConnection } from './duck.ts'
import { oneLine, StoreProblem } from './problem.ts'
import { relation } from './sources.ts'
import { firstRows } from './sql-rows.ts'

/** Memory of one query; what needs more ends with DuckDB's error instead of with the process. */
const MEMORY_LIMIT = '2GB'

/**
 * What DuckDB computes of an answer before it gives the first row. Its binding ends a stream without a word at an error,
 * but throws those that it meets before, so this must be more than an answer may hold.
 */
const COMPUTED_FIRST = '512MB'

/**
 * One SELECT over the tables of a bundle, in a DuckDB of its own that can read nothing but the bundle. Values are
 * JSON: integers beyond 2^53 and decimals as text, NaN and infinities as text, times in ISO form.
 */
export const runQuery = async (
  bundle: string,
  { sql, limit }: Omit<StoreParams<'query'>, 'run'>,
  signal?: AbortSignal,
): Promise<StoreResult<'query'>> => {
  const duck = await openDuck({ memory_limit: MEMORY_LIMIT })
  try {
    return await withConnection(duck, async (connection) => {
      await prepareTables(connection, bundle)
      try {
        return await interruptible(connection, signal, () => select(connection, sql, limit))
      } catch (error) {
        throw error instanceof Error ? new StoreProblem(oneLine(error.message)) : error
      }
    })
  } finally {
    duck.closeSync()
  }
}

const prepareTables = async (connection: DuckDBConnection, bundle: string): Promise<void> => {
  for (const table of TABLE_NAMES)
    await connection.run(`CREATE VIEW ${sqlName(table)} AS SELECT * FROM ${relation(bundle, table)}`)
  const folder = resolve(bundle)
  await connection.run(`SET streaming_buffer_size = '${COMPUTED_FIRST}'`)
  await connection.run(`SET allowed_directories = [${sqlText(folder.endsWith(sep) ? folder : folder + sep)}]`)
  await connection.run('SET enable_external_access = false')
  await connection.run('SET lock_configuration = true')
}

const select = async (
  connection: DuckDBConnection,
  sql: string,
  limit: number,
): Promise<StoreResult<'query'>> => {
  if (withoutComments(sql).trim() === '') throw new StoreProblem('the query is empty')
  const statements = await connection.extractStatements(sql)
  if (statements.count !== 1) throw new StoreProblem(`one statement at a time, got ${statements.count}`)
  const statement = await statements.prepare(0)
  // Not EXPLAIN either: with ANALYZE it runs what it explains, also a COPY into the bundle.
  if (statement.statementType !== StatementType.SELECT)
    throw new StoreProblem(
      `a bundle is read-only: only SELECT is possible, got ${StatementType[statement.statementType]}`,
    )
  const result = await statement.stream()
  const rows = await firstRows(result, limit + 1)
  return {
    columns: result.deduplicatedColumnNames(),
    rows: rows.slice(0, limit),
    truncated: rows.length > limit,
  }
}

/** DuckDB's binding answers a statement of comments only with an error without words. */
const withoutComments = (sql: string): string =>
  sql
    .replace(/--[^\n]*/g, '')
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(';', '')
