import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Store } from '../../../main/store/store.ts'
import { evenSpans, fakeEngine, scratchFolder, spanChunk, stepChunk } from './sample.ts'

const scratch = scratchFolder()
const store = new Store()
beforeAll(async () => {
  writeFileSync(join(scratch.path, 'secret.csv'), 'a\n1\n')
  const engine = fakeEngine()
  store.attachEngine(engine.storeEnd)
  engine.begin(join(scratch.path, 'run.dcp'))
  for (const rank of [0, 1]) engine.chunk(spanChunk(rank, evenSpans(5000)))
  engine.chunk(stepChunk(0, 4, (n) => (n === 0 ? Number.NaN : n)))
  engine.end()
  await engine.reply('closed')
})
afterAll(async () => {
  await store.close()
  scratch.remove()
})

const query = (sql: string, limit = 100) => store.request('query', { run: 'run-1', sql, limit })

describe('a query', () => {
  it('gives at most the rows asked for and says that there are more', async () => {
    const { rows, truncated } = await query('SELECT start_ns FROM spans WHERE rank = 1 ORDER BY 1', 3)
    expect(rows).toEqual([[0], [10], [20]])
    expect(truncated).toBe(true)
    expect(await query('SELECT step FROM steps', 4)).toMatchObject({ truncated: false })
  })

  it('gives JSON values: large integers, NaN and infinities as text', async () => {
    const { rows } = await query(
      `SELECT 9007199254740993, 9007199254740991, 'nan'::DOUBLE, 'inf'::DOUBLE, NULL, true, DATE '2026-01-02',
         [1, 2], {'a': 3::BIGINT}, 1.50::DECIMAL(9, 2), sum(dur_ns) FROM spans`,
    )
    expect(rows).toEqual([
      [
        '9007199254740993',
        9007199254740991,
        'NaN',
        'Infinity',
        null,
        true,
        '2026-01-02',
        [1, 2],
        { a: 3 },
        '1.50',
        100_000,
      ],
    ])
    expect(JSON.parse(JSON.stringify(rows))).toEqual(rows)
  })

  it('fails when a row cannot be computed, also behind thousands that can', async () => {
    for (const bad of [5, 150_000, 950_000]) {
      const rows = `SELECT CASE WHEN i = ${bad} THEN error('boom') ELSE i::VARCHAR END FROM range(1000000) t(i)`
      await expect(query(rows, 1_000_000)).rejects.toThrow('boom')
    }
  })

  it('tells apart columns of the same name', async () => {
    expect((await query('SELECT 1 AS a, 2 AS a')).columns).toEqual(['a', 'a:1'])
  })

  it.each([
    ['SELEC 1', /syntax error at or near "SELEC"/],
    ['SELECT nothing FROM spans', /column "nothing" not found/],
    ['SELECT * FROM span', /Table with name span does not exist! Did you mean "spans"/],
    ['', /the query is empty/],
    [' -- nothing\n;', /the query is empty/],
    ['SELECT 1; SELECT 2', /one statement at a time, got 2/],
  ])('with the mistake %j gets one line that says so', async (sql, sentence) => {
    await expect(query(sql)).rejects.toThrow(sentence)
    await query(sql).catch((error: Error) => expect(error.message).not.toContain('\n'))
  })

  it.each([
    "COPY (SELECT 1) TO 'out.csv'",
    'CREATE TABLE t AS SELECT 1',
    'DROP VIEW spans',
    "ATTACH 'other.db'",
    'SET enable_external_access = true',
    'INSTALL httpfs',
    'PRAGMA enable_profiling',
    'BEGIN',
    'CHECKPOINT',
  ])('cannot change anything: %s', async (sql) => {
    await expect(query(sql)).rejects.toThrow()
    expect(existsSync('out.csv')).toBe(false)
  })

  it('cannot write into the bundle either, not even by what it explains', async () => {
    const path = join(scratch.path, 'run.dcp', 'out.csv')
    await expect(query(`EXPLAIN ANALYZE COPY (SELECT 1) TO '${path}'`)).rejects.toThrow(/read-only/)
    expect(existsSync(path)).toBe(false)
  })

  it('cannot read a file outside of the bundle', async () => {
    const path = join(scratch.path, 'secret.csv')
    await expect(query(`SELECT * FROM read_csv('${path}')`)).rejects.toThrow(/disabled by configuration/)
    await expect(query(`SELECT * FROM read_text('${path}')`)).rejects.toThrow(/disabled by configuration/)
    await expect(query(`SELECT * FROM '${scratch.path}/run.dcp/../secret.csv'`)).rejects.toThrow()
    await expect(query(`SELECT * FROM glob('/etc/*')`)).rejects.toThrow()
  })

  it('refuses an answer that would not fit into memory, however few its rows', async () => {
    const large = "SELECT repeat('x', 10000000) AS text, [repeat('y', 10000000)] AS list FROM range(100)"
    await expect(query(large)).rejects.toThrow(/^the answer is larger than 256 MiB; ask for fewer rows/)
    expect((await query(`${large} LIMIT 1`)).rows).toEqual([['x'.repeat(1e7), ['y'.repeat(1e7)]]])
  })

  it.each(['SELECT range(9000000)'])(
    'refuses one value of too many entries before it is made: %s',
    async (large) => {
      await expect(query(large)).rejects.toThrow(/^the answer is larger than 256 MiB; ask for fewer rows/)
      expect((await query(large.replace('9000000', '3'))).rows).toHaveLength(1)
    },
  )

  it('has no folder to spill to, so that none is left behind', async () => {
    expect((await query("SELECT current_setting('temp_directory')")).rows).toEqual([['']])
  })
})

describe('a bundle below folders that look like partitions', () => {
  it('keeps its own ranks and columns', async () => {
    const folder = join(scratch.path, 'rank=9', 'step=77', 'stage=x', 'run.dcp')
    const engine = fakeEngine('run-2')
    store.attachEngine(engine.storeEnd)
    engine.begin(folder)
    for (const rank of [0, 1]) engine.chunk(spanChunk(rank, evenSpans(3)))
    engine.end()
    await engine.reply('closed')
    const sql =
      'SELECT rank, min(step), max(step), count(DISTINCT stage) FROM spans GROUP BY rank ORDER BY rank'
    const { rows } = await store.request('query', { run: 'run-2', sql, limit: 9 })
    expect(rows).toEqual([
      [0, 0, 0, 3],
      [1, 0, 0, 3],
    ])
    expect(await store.request('spanAt', { run: 'run-2', rank: 1, atNs: 5 })).toMatchObject({ step: 0 })
  })
})
