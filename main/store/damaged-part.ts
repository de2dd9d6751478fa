import type { DuckDBInstance } from '@duckdb/node-api'
import { TABLE_NAMES } from '../../app/trace/tables.ts'
import { listParts } from './bundle-files.ts'
import { sqlText, withConnection } from './duck.ts'
import { StoreProblem } from './problem.ts'

/** How DuckDB begins what it says of bytes that are no Parquet: never with what to do, and often without the file. */
const OF_BYTES = /^(Invalid Error|IO Error|Serialization Error|Invalid Input Error: Failed to read file)/

/** The error as it came, or, where a part of the bundle cannot be read, one that names it. */
export const naming = async (error: unknown, bundle: string, duck: DuckDBInstance): Promise<unknown> => {
  if (!(error instanceof Error) || !OF_BYTES.test(error.message)) return error
  const path = await unreadablePart(bundle, duck)
  return path === undefined
    ? error
    : new StoreProblem(`a part of the bundle is damaged; move it away to open the rest: ${path}`)
}

/** Reads every value, since a footer can be whole while the pages are not. */
const unreadablePart = (bundle: string, duck: DuckDBInstance): Promise<string | undefined> =>
  withConnection(duck, async (connection) => {
    for (const table of TABLE_NAMES)
      for (const { path } of listParts(bundle, table))
        try {
          await connection.run(
            `SELECT count(hash(part)) FROM read_parquet([${sqlText(path)}], hive_partitioning = false) AS part`,
          )
        } catch {
          return path
        }
    return undefined
  })
