import { join } from 'node:path'
import { expect, it } from 'vitest'
import { EVENT_KINDS, type EventKind, SEVERITIES, type Severity } from '../../../app/trace/stages.ts'
import type { Store } from '../../../main/store/store.ts'
import { freshStore } from './fresh-store.ts'
import { eventChunk, fakeEngine, type Scratch } from './sample.ts'

let scratch: Scratch
let store: Store
freshStore((opened, folder) => {
  store = opened
  scratch = folder
})

/** Events as time, rank (-1 none), kind, severity; their step is their place. */
const EVENTS: readonly (readonly [number, number, EventKind, Severity])[] = [
  [10, 0, 'empty_rank', 'info'],
  [12, 0, 'empty_rank', 'info'],
  [12, 1, 'empty_rank', 'info'],
  [14, 0, 'nan_in_partial', 'error'],
  [90, 0, 'empty_rank', 'info'],
  [95, -1, 'check_failed', 'error'],
]

it('events close to each other are one mark a rank and kind, the worst first', async () => {
  const engine = fakeEngine()
  store.attachEngine(engine.storeEnd)
  engine.begin(join(scratch.path, 'run.dcp'))
  const chunk = eventChunk(EVENTS.map(() => 'said'))
  engine.chunk({
    ...chunk,
    columns: {
      ...chunk.columns,
      rank: Int32Array.from(EVENTS, ([, rank]) => rank),
      time_ns: BigInt64Array.from(EVENTS, ([time]) => BigInt(time)),
      kind: Uint8Array.from(EVENTS, ([, , kind]) => EVENT_KINDS.indexOf(kind)),
      severity: Uint8Array.from(EVENTS, ([, , , severity]) => SEVERITIES.indexOf(severity)),
    },
  })
  engine.end()
  await engine.reply('closed')
  const marks = async (startNs: number, endNs: number, buckets: number) => {
    const m = await store.request('eventMarks', { run: 'run-1', startNs, endNs, buckets })
    return Array.from(m.time, (time, i) => [
      time,
      m.rank[i],
      EVENT_KINDS[m.kind[i] ?? -1],
      m.step[i],
      m.count[i],
    ])
  }
  expect(await marks(0, 100, 2)).toEqual([
    [14, 0, 'nan_in_partial', 3, 1],
    [95, -1, 'check_failed', 5, 1],
    [10, 0, 'empty_rank', 0, 2],
    [12, 1, 'empty_rank', 2, 1],
    [90, 0, 'empty_rank', 4, 1],
  ])
  expect((await marks(0, 100, 100)).filter(([, , kind]) => kind === 'empty_rank')).toHaveLength(4)
  expect(await marks(20, 90, 10)).toEqual([])
})
