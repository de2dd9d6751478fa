import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { PointRow } from '../../app/sweep/point-rows.ts'
import { FORMAT_VERSION, type Manifest } from '../../app/trace/manifest.ts'
import { SweepBundle } from '../../main/store/sweep-bundle.ts'
import { RATES, row, sweepOf } from '../unit/sweep/sample.ts'

const CONCURRENCY = 8
/** Tokens/s of either way at each context: the lines cross between the second and the third. */
export const RATES_AT: readonly { readonly context: number; readonly tp: number; readonly dcp: number }[] = [
  { context: 1024, tp: 4000, dcp: 3000 },
  { context: 4096, tp: 3200, dcp: 2800 },
  { context: 16_384, tp: 1500, dcp: 2300 },
  { context: 65_536, tp: 500, dcp: 1600 },
]
/** Each repeat is that much off. */
const REPEATS = [0.99, 1, 1.01]

const config = sweepOf({
  base: { model: { preset: 'deepseek-v3' }, parallel: { tpSize: 8 }, engine: { device: 'cuda' } },
  dcp: [8],
  comm: ['a2a'],
  context: RATES_AT.map(({ context }) => context),
  concurrency: [CONCURRENCY],
  repeats: REPEATS.length,
})

const manifest: Manifest = {
  format: 'dcpscope-run',
  formatVersion: FORMAT_VERSION,
  name: 'paying sweep',
  status: 'running',
  config: config.base,
  devices: [{ name: 'NVIDIA H200', kind: 'cuda', detail: '' }],
  versions: {},
  clock: { base: '2026-01-01T00:00:00.000Z', alignment: 'none', uncertaintyNs: 0 },
  createdAt: '2026-01-01T00:00:00.000Z',
  sweep: { config, device: 'cuda', memoryBytes: 150e9, rates: RATES, missing: [] },
}

const repeatsOf = (over: Partial<PointRow>, name: string, context: number, rate: number): PointRow[] =>
  REPEATS.map((factor, repeat) =>
    row({
      ...over,
      key: `${name}-bf16-q1-c${context}-n${CONCURRENCY}`,
      context,
      concurrency: CONCURRENCY,
      repeat,
      tokensPerSecond: rate * factor,
    }),
  )

/** Writes a sweep in which DCP pays from some context on, with the numbers of a test, where the app lists its runs. */
export const writePayingSweep = async (dataDir: string): Promise<string> => {
  const runs = join(dataDir, 'dcpscope', 'runs')
  mkdirSync(runs, { recursive: true })
  const folder = join(runs, 'paying sweep.dcp')
  const bundle = await SweepBundle.begin(folder, manifest)
  for (const { context, tp, dcp } of RATES_AT)
    bundle.add([
      ...repeatsOf({ mode: 'tp', dcp: 1 }, 'tp', context, tp),
      ...repeatsOf({ mode: 'dcp', dcp: 8, comm: 'a2a' }, 'dcp8-a2a', context, dcp),
    ])
  await bundle.end('complete')
  return folder
}
