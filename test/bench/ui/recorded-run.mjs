// @ts-check
/** A run of many steps that the engine itself records, small enough to take half a minute. */
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ROOT } from '../store-library.mjs'

const CAPTURES = 20

const configOf = (/** @type {number} */ steps, /** @type {number} */ seed) => ({
  model: { heads: 8, kvLoraRank: 64, ropeDim: 16, layers: 2 },
  parallel: { tpSize: 4, dcpSize: 4 },
  cache: { pageSize: 16 },
  workload: {
    requests: [{ contextLen: 600 }, { contextLen: 300, count: 2 }, { contextLen: 1 }],
    steps,
    seed,
  },
  check: { rows: 1 },
  capture: {
    steps: Array.from({ length: CAPTURES }, (_, i) => Math.floor(((i + 1) * steps) / CAPTURES) - 1),
  },
})

/** @param {string} bundle @param {number} steps @param {number} seed */
export const recordRun = async (bundle, steps, seed = 1) => {
  const config = `${bundle}.json`
  writeFileSync(config, JSON.stringify(configOf(steps, seed)))
  await promisify(execFile)(process.execPath, [
    join(ROOT, 'dist', 'cli.js'),
    'run',
    config,
    '--out',
    bundle,
    '--json',
  ])
}
