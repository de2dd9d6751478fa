import type { DuckDBInstance } from '@duckdb/node-api'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDuck, streamColumns, withConnection } from '../../../main/store/duck.ts'

let duck: DuckDBInstance
beforeAll(async () => {
  duck = await openDuck()
})
afterAll(() => duck.closeSync())

const ROWS = 1_000_000

/** Rows of a stream, and how it ended. */
const streamed = async (sql: string): Promise<{ rows: number; sum: number }> => {
  let rows = 0
  let sum = 0
  await withConnection(duck, (connection) =>
    streamColumns(connection, sql, (piece) => {
      rows += piece.rows
      sum += piece.i32('i').reduce((a, b) => a + b, 0)
    }),
  )
  return { rows, sum }
}

describe('a stream of columns', () => {
  it('has all rows', async () => {
    const sum = (ROWS * (ROWS - 1)) / 2
    expect(await streamed(`SELECT i::INTEGER AS i FROM range(${ROWS}) t(i)`)).toEqual({ rows: ROWS, sum })
    expect(await streamed('SELECT i::INTEGER AS i FROM range(0) t(i)')).toEqual({ rows: 0, sum: 0 })
  })

  it.each([0, 3000, 500_000, ROWS - 1])('says why row %i cannot be read', async (bad) => {
    const broken = `CASE WHEN i = ${bad} THEN error('boom') ELSE i END`
    await expect(streamed(`SELECT ${broken}::INTEGER AS i FROM range(${ROWS}) t(i)`)).rejects.toThrow('boom')
  })
})
