import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { PATH_KINDS } from '../../../app/trace/critical-path.ts'
import { STAGES } from '../../../app/trace/stages.ts'
import type { Store } from '../../../main/store/store.ts'
import { freshStore } from './fresh-store.ts'
import { SLOW, slowRank } from './rank-timeline.ts'
import {
  fakeEngine,
  kernelChunk,
  type Scratch,
  sampleConfig,
  sampleManifest,
  spanChunk,
  stepChunk,
} from './sample.ts'

let scratch: Scratch
let store: Store
freshStore((opened, folder) => {
  store = opened
  scratch = folder
})

const run = 'run-1'
const TIMELINE = slowRank({ graph: true })
const ATTENTION = STAGES.indexOf('decode_attn')

beforeEach(async () => {
  const engine = fakeEngine()
  store.attachEngine(engine.storeEnd)
  engine.begin(
    join(scratch.path, 'run.dcp'),
    sampleManifest(sampleConfig({ parallel: { tpSize: 4, dcpSize: 4 } })),
  )
  for (const [rank, spans] of TIMELINE.spans.entries()) engine.chunk(spanChunk(rank, spans))
  engine.chunk(stepChunk(0, 4, () => 0))
  engine.chunk(stepChunk(4, 1, () => 0, { kernelTrace: true }))
  const { startNs = 0 } = TIMELINE.steps[4] ?? {}
  engine.chunk(
    kernelChunk(1, [
      { start: startNs, dur: 100, name: 'attend', stage: 'decode_attn', step: 4, layer: 0 },
      { start: startNs + 70, dur: 100, name: 'gather', stage: 'q_all_gather', step: 4, layer: 0 },
    ]),
  )
  engine.end()
  await engine.reply('closed')
})

describe('the critical path of a step', () => {
  it('leads from the bundle over the slow rank, without what contains its spans', async () => {
    const { path, ranks, slowest, sources } = await store.request('stepPath', { run, step: 4 })
    const { startNs, endNs } = TIMELINE.steps[4] ?? {}
    expect(path.start[0]).toBe(startNs)
    expect(path.end.at(-1)).toBe(endNs)
    expect([...path.stage]).not.toContain(STAGES.indexOf('graph_replay'))
    const attention = [...path.stage].flatMap((stage, i) => (stage === ATTENTION ? [path.rank[i]] : []))
    expect(attention).toEqual([SLOW.rank, SLOW.rank])
    expect(PATH_KINDS[path.kind[0] ?? -1]).toBe('transfer')
    expect(slowest).toMatchObject({ rank: SLOW.rank, stage: { stage: ATTENTION } })
    expect(sources).toEqual(['measured'])
    expect(ranks.map(({ kernelOverlapNs }) => kernelOverlapNs)).toEqual([null, 30, null, null])
  })

  it('of a step that is not there is nothing', async () => {
    const { path, ranks, slowest } = await store.request('stepPath', { run, step: 400 })
    expect([path.rank.length, ranks, slowest]).toEqual([0, [], null])
  })
})

it('the longest step is none whose kernels were recorded', async () => {
  expect(await store.request('longestStep', { run })).toBe(0)
})

it('a collective has the entry of each rank', async () => {
  const first = TIMELINE.spans[0]?.find(({ stage }) => stage === STAGES.indexOf('lse_all_gather'))
  const spans = await store.request('collective', { run, step: 0, number: first?.collective ?? -1 })
  expect(spans.map(({ rank }) => rank)).toEqual([0, 1, 2, 3])
  const [fast, slow] = [spans[0], spans[SLOW.rank]]
  expect((slow?.enterNs ?? 0) - (fast?.enterNs ?? 0)).toBe(SLOW.slowNs - SLOW.plainNs)
  expect(new Set(spans.map(({ lastEnterNs }) => lastEnterNs))).toEqual(new Set([slow?.enterNs]))
  expect(await store.request('collective', { run, step: 1, number: first?.collective ?? -1 })).toEqual([])
})
