import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { Store } from '../../../main/store/store.ts'
import { evenSpans, fakeEngine, rowChunk, scratchFolder, spanChunk, stepChunk } from './sample.ts'

/** Interpreter to try; it needs pyarrow and pandas. */
const PYTHON = process.env.DCPSCOPE_TEST_PYTHON ?? 'python3'
const available = spawnSync(PYTHON, ['-c', 'import pyarrow, pandas']).status === 0
if (!available)
  console.warn(
    `SKIPPED: reading a bundle with pandas, since ${PYTHON} has no pyarrow and pandas (set DCPSCOPE_TEST_PYTHON)`,
  )

const scratch = scratchFolder()
afterAll(() => scratch.remove())

const SCRIPT = `
import json, sys
import pandas, pyarrow.parquet
root = sys.argv[1]
spans = pandas.read_parquet(root + '/spans')
table = pyarrow.parquet.read_table(root + '/spans')
rows = pandas.read_parquet(root + '/rows')
steps = pandas.read_parquet(root + '/steps')
print(json.dumps({
  'columns': list(spans.columns),
  'durations': {str(rank): int(group.dur_ns.sum()) for rank, group in spans.groupby('rank', observed=True)},
  'stages': sorted(spans.stage.unique().tolist())[:2],
  'collectives': int(spans.enter_ns.notna().sum()),
  'types': [str(table.schema.field(n).type) for n in ('start_ns', 'step', 'stage')],
  'empty': int(rows['empty'].sum()),
  'errors': steps.max_rel_err.isna().sum().item(),
}))
`

describe.runIf(available)('pandas and pyarrow', () => {
  it('read the tables as they are, with the rank from the path', async () => {
    const store = new Store()
    const engine = fakeEngine()
    store.attachEngine(engine.storeEnd)
    const bundle = join(scratch.path, 'run.dcp')
    engine.begin(bundle)
    for (const rank of [0, 1]) {
      engine.chunk(spanChunk(rank, [...evenSpans(3000), { start: 90_000, dur: 1, collective: 4 }]))
      engine.chunk(rowChunk(rank, 0, 0, 3))
    }
    engine.chunk(stepChunk(0, 3, (n) => (n === 1 ? Number.NaN : 0.5)))
    engine.end()
    await engine.reply('closed')
    await store.close()
    const read = JSON.parse(execFileSync(PYTHON, ['-c', SCRIPT, bundle], { encoding: 'utf8' }))
    expect(read).toMatchObject({
      durations: { 0: 30_001, 1: 30_001 },
      stages: ['decode_attn', 'graph_replay'],
      collectives: 2,
      types: ['int64', 'int32', 'string'],
      empty: 2,
      errors: 1,
    })
    expect(read.columns.at(-1)).toBe('rank')
  }, 60_000)
})
