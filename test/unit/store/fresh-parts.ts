import type { DuckDBInstance } from '@duckdb/node-api'
import { afterEach, beforeEach } from 'vitest'
import { openDuck, withConnection } from '../../../main/store/duck.ts'
import { PartWriter } from '../../../main/store/part-writer.ts'
import { enumStatements } from '../../../main/store/table-sql.ts'
import { type Scratch, scratchFolder } from './sample.ts'

export interface FreshParts {
  readonly scratch: Scratch
  /** Knows the enumerations of the tables. */
  readonly duck: DuckDBInstance
  readonly writer: PartWriter
}

/** Gives each test of a file a folder with a writer of parts, and a DuckDB; all are gone behind it. */
export const freshParts = (take: (parts: FreshParts) => void): void => {
  let end: () => Promise<void>
  beforeEach(async () => {
    const scratch = scratchFolder()
    const duck = await openDuck()
    await withConnection(duck, async (connection) => {
      for (const statement of enumStatements()) await connection.run(statement)
    })
    const writer = await PartWriter.open(scratch.path)
    end = async () => {
      await writer.close()
      duck.closeSync()
      scratch.remove()
    }
    take({ scratch, duck, writer })
  })
  afterEach(() => end())
}
