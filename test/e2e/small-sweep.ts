import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const CLI = join(__dirname, '..', '..', 'dist', 'cli.js')

/** A sweep of a few seconds. */
export const SWEEP = {
  base: { model: { heads: 8, kvLoraRank: 64, ropeDim: 16, layers: 2 }, parallel: { tpSize: 2 } },
  dcp: [2],
  context: [64, 128],
  concurrency: [1, 2],
  repeats: 2,
  steps: 2,
} as const

/** Runs the sweep as a user would, into a data folder of its own, which whoever asks for it removes. */
export const smallSweep = async (): Promise<{ readonly data: string; readonly bundle: string }> => {
  const data = mkdtempSync(join(tmpdir(), 'dcpscope-small-sweep-'))
  const runs = join(data, 'dcpscope', 'runs')
  mkdirSync(runs, { recursive: true })
  const [config, bundle] = [join(data, 'config.json'), join(runs, 'small.dcp')]
  writeFileSync(config, JSON.stringify(SWEEP))
  await promisify(execFile)(process.execPath, [CLI, 'sweep', config, '--out', bundle])
  return { data, bundle }
}
