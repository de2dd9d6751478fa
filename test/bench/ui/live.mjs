// @ts-check
/** A live run at six times the rate of a usual one: does the page's heap grow, and do the other processes? */
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'vite'
import { nodeBundle } from '../../../main/build/node-bundle.mjs'
import { ROOT } from '../store-library.mjs'
import { answersOf, shows } from './answers.mjs'
import { mb, slopeOf, spread, tenth } from './figures.mjs'
import { framesDuring, heapOf, metrics, openWindow, residentOf } from './window.mjs'

const TIMES = 6
const USUAL_MS = 15_000
/** More than are computed meanwhile; a pool for many more would not fit into memory. */
const USUAL_STEPS = 20_000
const LIVE_STEPS = 1_000_000
const SAMPLE_MS = 20_000
/** Of each sample, how long the other views are shown. */
const ELSEWHERE_MS = 1500
const VIEWS = ['run', 'ownership', 'pages', 'merge', 'events']
/** What a heap may seem to grow by the minute because of when it was looked at. */
const NOISE_MB_PER_MINUTE = 0.02
const FROM_MINUTE = 1

/** @typedef {import('./window.mjs').Opened} Opened */

/** The built app with an engine host of the benchmark in place of its own. @param {string} folder */
const makeApp = async (folder) => {
  mkdirSync(folder, { recursive: true })
  cpSync(join(ROOT, 'dist'), join(folder, 'dist'), { recursive: true })
  const { name, version, main } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, version, main }))
  // DuckDB is no part of what is built.
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'), 'junction')
  const input = { 'engine-host': 'test/bench/ui/live-engine.ts' }
  await build(nodeBundle(input, join(folder, 'dist'), { root: ROOT, logLevel: 'error' }))
}

/** Starts a run of the tiny preset that does not end by itself. @param {Opened} window @param {number} steps */
const startRun = async ({ page }, steps) => {
  await page.locator('[id="field-workload.steps"]').fill(String(steps))
  await page.locator('[data-testid="run-start"]:enabled').click()
  await page.locator('[data-testid="run-status"][data-value="running"]').waitFor()
}

/**
 * What went to the store so far.
 * @param {string} file
 * @returns {{ ms: number, steps: number, rows: number, bytes: number, mostStepsPerSecond: number }}
 */
const tallyOf = (file) => JSON.parse(readFileSync(file, 'utf8'))

/** @param {ReturnType<typeof tallyOf>} tally */
const ratesOf = ({ ms, steps, rows, bytes }) => ({
  stepsPerSecond: tenth((steps * 1000) / ms),
  rowsPerSecond: Math.round((rows * 1000) / ms),
  bytesPerSecond: Math.round((bytes * 1000) / ms),
})

/** What a run of the real engine sends, in the window. @param {string} scratch @param {string} folder */
const usualRates = async (scratch, folder) => {
  const tally = join(scratch, 'usual.json')
  const window = await openWindow(scratch, [], { folder, env: { DCPSCOPE_BENCH_TALLY: tally } })
  try {
    await startRun(window, USUAL_STEPS)
    await window.page.waitForTimeout(USUAL_MS)
    // The best second is what the machine does when nothing else runs on it.
    return { ...ratesOf(tallyOf(tally)), bestStepsPerSecond: tenth(tallyOf(tally).mostStepsPerSecond) }
  } finally {
    await window.app.close()
  }
}

/** @param {Opened} window @param {number} began */
const sampleOf = async (window, began) => {
  await window.cdp.send('HeapProfiler.collectGarbage')
  const [nodes, listeners] = await metrics(window, ['Nodes', 'JSEventListeners'])
  const resident = await residentOf(window)
  return {
    minute: tenth((performance.now() - began) / 60_000),
    heapMb: Math.round(((await heapOf(window)) / 2 ** 20) * 1000) / 1000,
    nodes,
    listeners,
    residentMb: Object.fromEntries(Object.entries(resident).map(([name, bytes]) => [name, mb(bytes)])),
  }
}

/** Goes through the other views and back to the timeline; how soon each was there. @param {Opened} window */
const lookAround = async (window) => {
  /** @type {import('./answers.mjs').Answer[]} */
  const answers = []
  for (const view of [...VIEWS, 'timeline']) {
    const shown = `$('[data-testid="view-${view}"]').ariaCurrent === 'page'`
    answers.push(await shows(window, shown, null, () => window.page.getByTestId(`view-${view}`).click()))
    if (view !== 'timeline') await window.page.waitForTimeout(ELSEWHERE_MS)
  }
  return answers
}

/** @param {readonly Awaited<ReturnType<typeof sampleOf>>[]} samples */
const growthOf = (samples) => {
  const later = samples.filter(({ minute }) => minute >= FROM_MINUTE)
  const [first, last] = [later[0], later.at(-1)]
  const { slope, low, high } = slopeOf(later.map(({ minute, heapMb }) => ({ x: minute, y: heapMb })))
  return {
    mbPerMinute: {
      slope: Math.round(slope * 1e4) / 1e4,
      low: Math.round(low * 1e4) / 1e4,
      high: Math.round(high * 1e4) / 1e4,
    },
    fromMinute: first?.minute,
    fromMb: first?.heapMb,
    toMinute: last?.minute,
    toMb: last?.heapMb,
    met: low <= NOISE_MB_PER_MINUTE,
  }
}

/** @param {string} scratch @param {number} minutes */
export const measureLive = async (scratch, minutes) => {
  const folder = join(scratch, 'app')
  await makeApp(folder)
  const usual = await usualRates(scratch, folder)
  const tally = join(scratch, 'live.json')
  const env = {
    DCPSCOPE_BENCH_TALLY: tally,
    DCPSCOPE_BENCH_STEPS_PER_S: String(TIMES * usual.bestStepsPerSecond),
  }
  const window = await openWindow(scratch, [], { folder, env })
  try {
    await startRun(window, LIVE_STEPS)
    const began = performance.now()
    const samples = []
    const frames = []
    const answers = []
    while (performance.now() - began < minutes * 60_000) {
      const due = performance.now() + SAMPLE_MS
      answers.push(...(await lookAround(window)))
      const seen = await framesDuring(window, () =>
        window.page.waitForTimeout(Math.max(2000, due - performance.now())),
      )
      frames.push(...seen.frames)
      samples.push(await sampleOf(window, began))
    }
    const rates = ratesOf(tallyOf(tally))
    return {
      minutes,
      usual,
      live: { ...rates, timesUsual: tenth(rates.stepsPerSecond / usual.bestStepsPerSecond) },
      timelineFrameMs: spread(frames),
      viewSwitches: answersOf(answers).answeredMs,
      heap: growthOf(samples),
      samples,
    }
  } finally {
    await window.app.close()
  }
}
