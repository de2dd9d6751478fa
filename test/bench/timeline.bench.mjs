// @ts-check
/**
 * Timeline: frame times while panning in the real app, and the heap of the page, with bundles of many spans. Prints
 * one JSON document; needs a display, build/electron-runtime.json and what `npm run build` makes.
 * Environment: TIMELINE_BENCH_SPANS (spans of the runs, comma separated, default 1 and 10 million).
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { _electron } from 'playwright'
import { emptySpanColumns, loadStore, ROOT, seededRandom } from './store-library.mjs'

const RANKS = 8
const LAYERS = 27
/** Stages of a layer with ag_rs, by code; 1, 6 and 8 are collectives. */
const LAYER_STAGES = [0, 1, 2, 3, 5, 6, 7, 8, 11]
const CHUNK_ROWS = 15_000
const CONTENT = { width: 1280, height: 800 }
const PAN_MS = 2500
const PATIENCE_MS = 120_000
const BUDGET = { frameP95Ms: 33, heapMb: 300 }
/** How much of the run is shown while panning: 1/4 merges thousands of spans a pixel, the last shows single ones. */
const ZOOMS = [4, 64, 1024, 16_384]

const fail = (/** @type {string} */ sentence) => {
  process.stderr.write(`timeline.bench: ${sentence}\n`)
  process.exit(2)
}

const sizes = (process.env.TIMELINE_BENCH_SPANS ?? '1000000,10000000').split(',').map(Number)
if (!sizes.every((n) => Number.isInteger(n) && n >= 10_000))
  fail('TIMELINE_BENCH_SPANS must be numbers of at least 10000')
if (process.platform === 'linux' && !process.env.DISPLAY && !process.env.WAYLAND_DISPLAY)
  fail('a window needs a display; start one (Xvfb :9 &) and set DISPLAY')
const runtimeFile = join(ROOT, 'build', 'electron-runtime.json')
if (!existsSync(runtimeFile)) fail(`${runtimeFile} is missing; run npm start or npm test once`)
const runtime = JSON.parse(readFileSync(runtimeFile, 'utf8'))

const { Store, portPair, runConfigSchema } = await loadStore()
const random = seededRandom(7)

const PER_STEP = LAYERS * LAYER_STAGES.length
const STEP_NS = LAYERS * 60_000

/** Spans [from, from + rows) of one rank: layers of a step in turn, waiting of random length in collectives. */
const chunkOf = (/** @type {number} */ rank, /** @type {number} */ from, /** @type {number} */ rows) => {
  const columns = emptySpanColumns(rows)
  const share = 60_000 / LAYER_STAGES.length
  for (let i = 0; i < rows; i++) {
    const at = from + i
    const step = Math.floor(at / PER_STEP)
    const place = at % LAYER_STAGES.length
    const layer = Math.floor(at / LAYER_STAGES.length) % LAYERS
    const stage = LAYER_STAGES[place] ?? 0
    const start = Math.floor(step * STEP_NS * 1.02 + layer * 60_000 + place * share)
    const dur = Math.floor(share * (0.55 + 0.44 * random()))
    columns.step[i] = step
    columns.layer[i] = layer
    columns.stage[i] = stage
    columns.start_ns[i] = BigInt(start)
    columns.dur_ns[i] = BigInt(dur)
    columns.bytes[i] = BigInt(1_152 * (1 + (at % 1000)))
    columns.flops[i] = BigInt(stage === 3 ? 2_000_000 : 0)
    if (stage === 1 || stage === 6 || stage === 8) {
      columns.collective_seq[i] = Math.floor(at / 3)
      columns.enter_ns[i] = BigInt(start)
      columns.last_enter_ns[i] = BigInt(start + Math.floor(dur * random() * 0.8))
    }
  }
  return { table: 'spans', rank, rows, columns }
}

const stepsChunk = (/** @type {number} */ steps) => ({
  table: 'steps',
  rank: -1,
  rows: steps,
  columns: {
    step: Int32Array.from({ length: steps }, (_, i) => i),
    start_ns: BigInt64Array.from({ length: steps }, (_, i) => BigInt(Math.floor(i * STEP_NS * 1.02))),
    wall_ns: new BigInt64Array(steps).fill(BigInt(STEP_NS)),
    device_ns: new BigInt64Array(steps).fill(BigInt(STEP_NS)),
    untraced_ns: new BigInt64Array(steps).fill(-1n),
    tokens: new Int32Array(steps).fill(8),
    tokens_per_s: new Float64Array(steps).fill(8 / (STEP_NS / 1e9)),
    max_abs_err: new Float64Array(steps).fill(Number.NaN),
    max_rel_err: new Float64Array(steps).fill(Number.NaN),
    checked_rows: new Int32Array(steps),
    graph_replayed: new Uint8Array(steps),
    kernel_trace: new Uint8Array(steps),
    draft_proposed: new Int32Array(steps).fill(-1),
    draft_accepted: new Int32Array(steps).fill(-1),
    provenance: new Uint8Array(steps),
  },
})

const bytesOf = (/** @type {any} */ chunk) =>
  Object.values(chunk.columns).reduce((sum, column) => sum + column.byteLength, 4096)

const manifest = () => ({
  format: 'dcpscope-run',
  formatVersion: 1,
  name: 'timeline bench',
  status: 'running',
  config: runConfigSchema.parse({ parallel: { tpSize: RANKS, dcpSize: RANKS } }),
  devices: [{ name: 'bench', kind: 'cpu', detail: 'generated spans' }],
  versions: {},
  clock: { base: new Date(0).toISOString(), alignment: 'one clock', uncertaintyNs: 0 },
  createdAt: new Date().toISOString(),
})

/** Writes a bundle through the store as the engine host does. */
const writeBundle = async (/** @type {string} */ bundle, /** @type {number} */ spans) => {
  const store = new Store()
  const [engine, storeEnd] = portPair()
  store.attachEngine(storeEnd)
  const perRank = Math.floor(spans / RANKS)
  /** @type {(() => any)[]} */
  const makers = [() => stepsChunk(Math.ceil(perRank / PER_STEP))]
  for (let from = 0; from < perRank; from += CHUNK_ROWS)
    for (let rank = 0; rank < RANKS; rank++)
      makers.push(() => chunkOf(rank, from, Math.min(CHUNK_ROWS, perRank - from)))
  const runId = 'bench'
  await new Promise((resolve, reject) => {
    let outstanding = 0
    const pump = () => {
      while (outstanding < 8 << 20) {
        const make = makers.shift()
        if (make === undefined) {
          if (outstanding === 0)
            engine.post({ type: 'end', runId, status: 'complete', dropped: 0, captureNotes: [] })
          return
        }
        const chunk = make()
        outstanding += bytesOf(chunk)
        engine.post({ type: 'chunk', runId, bytes: bytesOf(chunk), chunk })
      }
    }
    engine.onMessage((/** @type {any} */ reply) => {
      if (reply.type === 'failed') reject(new Error(reply.error))
      else if (reply.type === 'closed') resolve(undefined)
      else {
        outstanding -= reply.bytes
        pump()
      }
    })
    engine.post({ type: 'begin', runId, bundle, manifest: manifest() })
    pump()
  })
  await store.close()
  return perRank * RANKS
}

const quantile = (/** @type {number[]} */ values, /** @type {number} */ q) => {
  const sorted = [...values].sort((a, b) => a - b)
  return (
    Math.round((sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN) * 10) / 10
  )
}

const RECORD = `(() => {
  window.benchFrames = []
  let last = performance.now()
  const tick = (now) => {
    window.benchFrames.push(now - last)
    last = now
    window.benchTimer = requestAnimationFrame(tick)
  }
  window.benchTimer = requestAnimationFrame((now) => { last = now; window.benchTimer = requestAnimationFrame(tick) })
})()`
const TAKE = '(() => { cancelAnimationFrame(window.benchTimer); return window.benchFrames })()'

const mb = (/** @type {number} */ bytes) => Math.round(bytes / 2 ** 20)

/** Pans right and back at several zooms. @param {string} bundle @param {string} scratch */
const measure = async (bundle, scratch) => {
  const app = await _electron.launch({
    executablePath: runtime.path,
    cwd: ROOT,
    args: [
      '.',
      bundle,
      `--user-data-dir=${mkdtempSync(join(scratch, 'user-'))}`,
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    ],
    env: { .../** @type {Record<string, string>} */ (process.env), XDG_DATA_HOME: join(scratch, 'data') },
  })
  try {
    const page = await app.firstWindow()
    await app.evaluate(({ BrowserWindow }, size) => {
      BrowserWindow.getAllWindows()[0]?.setContentSize(size.width, size.height)
    }, CONTENT)
    const cdp = await page.context().newCDPSession(page)
    await cdp.send('Performance.enable', { timeDomain: 'threadTicks' })
    const metric = async (/** @type {string} */ wanted) => {
      const { metrics } = await cdp.send('Performance.getMetrics')
      return metrics.find(({ name }) => name === wanted)?.value ?? Number.NaN
    }
    const heap = () => metric('JSHeapUsedSize')
    await page.getByTestId('view-timeline').click()
    const range = page.getByTestId('timeline-range')
    const opened = performance.now()
    const canvas = page.getByTestId('timeline-canvas')
    while (!(Number(await canvas.getAttribute('data-pieces', { timeout: PATIENCE_MS })) > 0))
      await page.waitForTimeout(20)
    const firstTilesMs = Math.round(performance.now() - opened)
    await canvas.focus()
    const spanOf = async () =>
      Number(await range.getAttribute('data-end')) - Number(await range.getAttribute('data-start'))
    const whole = await spanOf()
    const scenes = []
    let heapPeak = 0
    const box = await canvas.boundingBox()
    if (box === null) throw new Error('the canvas has no box')
    for (const zoom of ZOOMS) {
      await page.keyboard.press('Digit0')
      await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2)
      for (let i = 0; (await spanOf()) > whole / zoom && i < 200; i++) await page.mouse.wheel(0, -240)
      await page.waitForTimeout(600)
      await page.evaluate(RECORD)
      const threadBefore = await metric('ThreadTime')
      for (const key of ['KeyD', 'KeyA']) {
        await page.keyboard.down(key)
        for (let waited = 0; waited < PAN_MS; waited += 250) {
          await page.waitForTimeout(250)
          heapPeak = Math.max(heapPeak, await heap())
        }
        await page.keyboard.up(key)
      }
      const threadSeconds = (await metric('ThreadTime')) - threadBefore
      const frames = /** @type {number[]} */ (await page.evaluate(TAKE))
      scenes.push({
        shown: `1/${zoom}`,
        frames: frames.length,
        /** Processor time of the page's main thread: does not grow when the machine is busy with other work. */
        mainThreadMsPerFrame: Math.round((threadSeconds * 1e4) / Math.max(1, frames.length)) / 10,
        frameMs: { p50: quantile(frames, 0.5), p95: quantile(frames, 0.95), max: quantile(frames, 1) },
      })
    }
    const memory = await app.evaluate(({ app: electron }) =>
      electron.getAppMetrics().map(({ type, memory: { workingSetSize } }) => ({ type, kb: workingSetSize })),
    )
    await cdp.send('HeapProfiler.collectGarbage')
    return {
      firstTilesMs,
      scenes,
      frameP95Ms: Math.max(...scenes.map(({ frameMs }) => frameMs.p95)),
      heapMb: { peak: mb(heapPeak), afterCollection: mb(await heap()) },
      pageWorkingSetMb: Math.round((memory.find(({ type }) => type === 'Tab')?.kb ?? Number.NaN) / 1024),
    }
  } finally {
    await app.close()
  }
}

const scratch = mkdtempSync(join(tmpdir(), 'dcpscope-bench-'))
/** @type {Record<string, unknown>} */
const result = {
  bench: 'timeline',
  cores: cpus().length,
  electron: { version: runtime.version, source: runtime.source },
  content: CONTENT,
  ranks: RANKS,
}
let met = true
try {
  for (const size of sizes) {
    const bundle = join(scratch, `${size}.dcp`)
    const spans = await writeBundle(bundle, size)
    const measured = await measure(bundle, scratch)
    result[`spans${size}`] = { spans, ...measured }
    met &&= measured.frameP95Ms < BUDGET.frameP95Ms && measured.heapMb.peak < BUDGET.heapMb
    rmSync(bundle, { recursive: true, force: true })
  }
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
process.stdout.write(`${JSON.stringify({ ...result, budget: { ...BUDGET, met } }, null, 2)}\n`)
