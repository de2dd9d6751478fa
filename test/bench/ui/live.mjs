// @ts-check
/** A live run at six times the rate of a usual one: does what the page keeps grow, and do the other processes? */
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'vite'
import { nodeBundle } from '../../../main/build/node-bundle.mjs'
import { ROOT } from '../store-library.mjs'
import { answersOf, shows } from './answers.mjs'
import { aimed, mb, slopeOf, spread, tenth } from './figures.mjs'
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

/**
 * What the heap holds, in MB: machine code and what belongs to it, which grows for minutes while functions that are called
 * often are compiled, and all else. Takes a second or two.
 * @param {Opened} window
 */
const contentsOf = async ({ cdp }) => {
  /** @type {string[]} */
  const chunks = []
  const add = (/** @type {{ chunk: string }} */ { chunk }) => chunks.push(chunk)
  cdp.on('HeapProfiler.addHeapSnapshotChunk', add)
  await cdp.send('HeapProfiler.takeHeapSnapshot', { reportProgress: false })
  cdp.off('HeapProfiler.addHeapSnapshotChunk', add)
  const { snapshot, nodes } = JSON.parse(chunks.join(''))
  const { node_fields: fields, node_types: types } = snapshot.meta
  const [type, size] = [fields.indexOf('type'), fields.indexOf('self_size')]
  const bytes = { code: 0, data: 0 }
  for (let at = 0; at < nodes.length; at += fields.length) {
    const kind = types[type][nodes[at + type]]
    // What is native lies outside of the heap.
    if (kind !== 'native') bytes[kind === 'code' ? 'code' : 'data'] += nodes[at + size]
  }
  const rounded = (/** @type {number} */ n) => Math.round((n / 2 ** 20) * 1000) / 1000
  return { codeMb: rounded(bytes.code), dataMb: rounded(bytes.data) }
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

/** @typedef {Awaited<ReturnType<typeof contentsOf>> & { minute: number }} Contents */

/** @param {readonly Awaited<ReturnType<typeof sampleOf>>[]} samples @param {Contents} first @param {Contents} last */
const growthOf = (samples, first, last) => {
  const dataPerMinute = (last.dataMb - first.dataMb) / (last.minute - first.minute)
  return {
    whole: wholeGrowthOf(samples),
    contents: [first, last],
    dataMbPerMinute: aimed(Math.round(dataPerMinute * 1000) / 1000, NOISE_MB_PER_MINUTE),
  }
}

/** @param {readonly Awaited<ReturnType<typeof sampleOf>>[]} samples */
const wholeGrowthOf = (samples) => {
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
    /** @type {Contents | undefined} */
    let early
    const contents = async () => ({
      minute: tenth((performance.now() - began) / 60_000),
      ...(await contentsOf(window)),
    })
    while (performance.now() - began < minutes * 60_000) {
      const due = performance.now() + SAMPLE_MS
      answers.push(...(await lookAround(window)))
      const seen = await framesDuring(window, () =>
        window.page.waitForTimeout(Math.max(2000, due - performance.now())),
      )
      frames.push(...seen.frames)
      samples.push(await sampleOf(window, began))
      if (early === undefined && performance.now() - began > FROM_MINUTE * 60_000) early = await contents()
    }
    if (early === undefined) throw new Error(`a live run of ${minutes} minutes is too short to grow in`)
    const rates = ratesOf(tallyOf(tally))
    return {
      minutes,
      usual,
      live: { ...rates, timesUsual: tenth(rates.stepsPerSecond / usual.bestStepsPerSecond) },
      timelineFrameMs: spread(frames),
      viewSwitches: answersOf(answers).answeredMs,
      heap: growthOf(samples, early, await contents()),
      samples,
    }
  } finally {
    await window.app.close()
  }
}
