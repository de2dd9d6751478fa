import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { TraceChunk } from '../../app/trace/tables.ts'
import { Store } from '../../main/store/store.ts'
import { type RankTimeline, slowRank } from '../unit/store/rank-timeline.ts'
import { fakeEngine, sampleConfig, sampleManifest, spanChunk, stepChunk } from '../unit/store/sample.ts'

/** `steps` rows of a timeline. */
const stepsOf = ({ steps }: RankTimeline): TraceChunk => {
  const chunk = stepChunk(0, steps.length, () => 1e-6)
  return {
    ...chunk,
    columns: {
      ...chunk.columns,
      start_ns: BigInt64Array.from(steps, ({ startNs }) => BigInt(startNs)),
      wall_ns: BigInt64Array.from(steps, ({ startNs, endNs }) => BigInt(endNs - startNs)),
    },
  }
}

/** Writes a run in which one of four ranks is slow, with the numbers of a test, where the app lists its runs. */
export const writeSlowBundle = async (
  dataDir: string,
  { timeline = slowRank(), chunks = [] }: { timeline?: RankTimeline; chunks?: readonly TraceChunk[] } = {},
): Promise<string> => {
  const runs = join(dataDir, 'dcpscope', 'runs')
  mkdirSync(runs, { recursive: true })
  const bundle = join(runs, 'slow rank.dcp')
  const ranks = timeline.spans.length
  const config = sampleConfig({ parallel: { tpSize: ranks, dcpSize: ranks } })
  const store = new Store()
  const engine = fakeEngine()
  store.attachEngine(engine.storeEnd)
  engine.begin(bundle, { ...sampleManifest(config), name: 'slow rank' })
  for (const [rank, spans] of timeline.spans.entries()) engine.chunk(spanChunk(rank, spans))
  engine.chunk(stepsOf(timeline))
  for (const chunk of chunks) engine.chunk(chunk)
  engine.end()
  const failed = engine.reply('failed').then(({ error }) => {
    throw new Error(error)
  })
  await Promise.race([engine.reply('closed'), failed])
  await store.close()
  return bundle
}
