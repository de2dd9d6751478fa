// @ts-check
/**
 * The window: first paint, frames while one pans, zooms and scrubs, how soon inputs are answered, and a live run of ten
 * minutes. Prints one JSON document: each figure, its aim, and whether it is met. Needs a display,
 * build/electron-runtime.json and what `npm run build` makes.
 * Environment: UI_BENCH_PARTS (parts, comma separated, default all), UI_BENCH_SPANS (spans of the timeline, default 10
 * million), UI_BENCH_STEPS (steps of the recorded run, default 10000), UI_BENCH_LIVE_MINUTES (default 10).
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { measureAnswers } from './ui/answers.mjs'
import { tenth } from './ui/figures.mjs'
import { measureFirstPaint } from './ui/first-paint.mjs'
import { writeLargeBundle } from './ui/large-bundle.mjs'
import { measureLive } from './ui/live.mjs'
import { measureOwnership } from './ui/ownership.mjs'
import { recordRun } from './ui/recorded-run.mjs'
import { measureScrubbing } from './ui/scrubbing.mjs'
import { measureTimeline } from './ui/timeline.mjs'
import { CONTENT, openWindow, quiet, runtime } from './ui/window.mjs'

const STARTS = 10
const SPANS = Number(process.env.UI_BENCH_SPANS ?? 10_000_000)
const STEPS = Number(process.env.UI_BENCH_STEPS ?? 10_000)
const LIVE_MINUTES = Number(process.env.UI_BENCH_LIVE_MINUTES ?? 10)

const scratch = mkdtempSync(join(tmpdir(), 'dcpscope-bench-'))

/** @type {Map<string, Promise<string>>} */
const bundles = new Map()

/** A bundle that several parts look at is made once. @param {string} name @param {(path: string) => Promise<unknown>} make */
const bundle = (name, make) => {
  const path = join(scratch, `${name}.dcp`)
  const made = bundles.get(name) ?? make(path).then(() => path)
  bundles.set(name, made)
  return made
}
const large = () => bundle('many spans', (path) => writeLargeBundle(path, SPANS))
const recorded = (seed = 1) => bundle(`recorded ${seed}`, (path) => recordRun(path, STEPS, seed))

/**
 * @template T
 * @param {readonly string[]} opened @param {(window: import('./ui/window.mjs').Opened) => Promise<T>} measure
 */
const inWindow = async (opened, measure) => {
  const window = await openWindow(scratch, opened)
  try {
    await quiet(window)
    return await measure(window)
  } finally {
    await window.app.close()
  }
}

/** @type {Record<string, () => Promise<object>>} */
const PARTS = {
  firstPaint: () => measureFirstPaint(scratch, STARTS),
  timeline: async () => ({ spans: SPANS, ...(await inWindow([await large()], measureTimeline)) }),
  scrubbing: async () => inWindow([await recorded()], (window) => measureScrubbing(window, STEPS)),
  ownership: () => inWindow([], measureOwnership),
  answers: async () => inWindow([await large(), await recorded(), await recorded(2)], measureAnswers),
  live: () => measureLive(scratch, LIVE_MINUTES),
}

const fail = (/** @type {string} */ sentence) => {
  process.stderr.write(`ui.bench: ${sentence}\n`)
  process.exit(2)
}

const chosen = process.env.UI_BENCH_PARTS?.split(',') ?? Object.keys(PARTS)
const unknown = chosen.find((name) => PARTS[name] === undefined)
if (unknown !== undefined) fail(`no part ${unknown}; there are ${Object.keys(PARTS).join(', ')}`)
if (!(SPANS >= 10_000 && STEPS >= 100 && LIVE_MINUTES > 0))
  fail('UI_BENCH_SPANS must be at least 10000, UI_BENCH_STEPS at least 100, UI_BENCH_LIVE_MINUTES above 0')
if (process.platform === 'linux' && !process.env.DISPLAY && !process.env.WAYLAND_DISPLAY)
  fail('a window needs a display; start one (Xvfb :9 &) and set DISPLAY')

const { version, source } = runtime()
/** @type {Record<string, unknown>} */
const result = { bench: 'ui', cores: cpus().length, electron: { version, source }, content: CONTENT }
try {
  for (const name of chosen) {
    const measured = await PARTS[name]?.()
    // Others may use the machine at the same time.
    result[name] = { ...measured, loadAverage: tenth(loadavg()[0] ?? Number.NaN) }
  }
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
process.stdout.write(`${JSON.stringify(result, null, 2)}\n`)
