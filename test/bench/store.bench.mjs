// @ts-check
/**
 * Store: spans from typed arrays to closed Parquet parts, and tiles of large runs. Prints one JSON document.
 * Environment: STORE_BENCH_SPANS (spans of the largest run, default 10 million).
 */
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { emptySpanColumns, loadStore, seededRandom } from './store-library.mjs'

const RANKS = 8
/** About 1 MB of columns, as the engine host sends. */
const CHUNK_ROWS = 15_000
const STAGES = 9
const LAYERS = 27
const BUDGET = 2_000_000
const LARGEST = Number(process.env.STORE_BENCH_SPANS ?? 10_000_000)

const { Store, portPair, runConfigSchema } = await loadStore()
const random = seededRandom(1)

/** Chunks of one rank: stages in turn, a collective in every third. @param {number} rank @param {number} spans */
const chunksOf = (rank, spans) => {
  const chunks = []
  let time = 0
  for (let from = 0; from < spans; from += CHUNK_ROWS) {
    const rows = Math.min(CHUNK_ROWS, spans - from)
    const columns = emptySpanColumns(rows)
    for (let i = 0; i < rows; i++) {
      const span = from + i
      const stage = span % STAGES
      const dur = Math.floor((stage === 3 ? 20_000 : 1_000) * (0.5 + random()))
      columns.step[i] = Math.floor(span / (STAGES * LAYERS))
      columns.layer[i] = Math.floor(span / STAGES) % LAYERS
      columns.stage[i] = stage
      columns.start_ns[i] = BigInt(time)
      columns.dur_ns[i] = BigInt(dur)
      columns.bytes[i] = BigInt(stage === 3 ? 1_152_000 + (span % 1024) * 1152 : 4096)
      columns.flops[i] = BigInt(stage * 100_000)
      if (stage % 3 === 1) {
        columns.collective_seq[i] = Math.floor(span / 3)
        columns.enter_ns[i] = BigInt(time)
        columns.last_enter_ns[i] = BigInt(time + Math.floor(dur / 2))
      }
      time += dur + 50
    }
    chunks.push({ table: 'spans', rank, rows, columns })
  }
  return chunks
}

const config = runConfigSchema.parse({ parallel: { tpSize: RANKS, dcpSize: RANKS } })
const manifest = () => ({
  format: 'dcpscope-run',
  formatVersion: 1,
  name: 'bench',
  status: 'running',
  config,
  devices: [{ name: 'bench', kind: 'cpu', detail: 'none' }],
  versions: {},
  clock: { base: new Date(0).toISOString(), alignment: 'one clock', uncertaintyNs: 0 },
  createdAt: new Date().toISOString(),
})

/** @param {any} chunk */
const bytesOf = (chunk) => Object.values(chunk.columns).reduce((sum, column) => sum + column.byteLength, 4096)

/**
 * Sends chunks with credits over a line that copies, as between processes.
 * @param {any} store @param {string} bundle @param {any[]} chunks @param {string} runId
 */
const write = async (store, bundle, chunks, runId) => {
  const [engine, storeEnd] = portPair()
  store.attachEngine(storeEnd)
  const credit = 16 << 20
  let outstanding = 0
  let next = 0
  const start = performance.now()
  let taken = 0
  await new Promise((resolve, reject) => {
    const pump = () => {
      for (
        let chunk = chunks[next];
        chunk !== undefined && outstanding + bytesOf(chunk) <= credit;
        chunk = chunks[++next]
      ) {
        outstanding += bytesOf(chunk)
        engine.post({ type: 'chunk', runId, bytes: bytesOf(chunk), chunk })
      }
      if (next >= chunks.length && outstanding === 0) {
        taken = performance.now()
        engine.post({ type: 'end', runId, status: 'complete', dropped: 0, captureNotes: [] })
        next = Number.POSITIVE_INFINITY
      }
    }
    engine.onMessage((/** @type {any} */ reply) => {
      if (reply.type === 'ack') {
        outstanding -= reply.bytes
        pump()
      } else if (reply.type === 'failed') reject(new Error(reply.error))
      else resolve(undefined)
    })
    engine.post({ type: 'begin', runId, bundle, manifest: manifest() })
    pump()
  })
  return { seconds: (performance.now() - start) / 1000, untilTaken: (taken - start) / 1000 }
}

/** @param {string} folder */
const files = (folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.parquet'))
    .map((name) => join(folder, name))

/** When the last part was closed, in ms of the wall clock. @param {string[]} paths */
const lastClosed = (paths) => Math.max(...paths.map((path) => statSync(path).ctimeMs))

/** @param {number[]} values @param {number} q */
const quantile = (values, q) => {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN
}

/** @param {number} n */
const rounded = (n) => Math.round(n * 100) / 100

/** @param {any} store @param {string} run @param {number} startNs @param {number} endNs @param {number} buckets */
const tile = async (store, run, startNs, endNs, buckets) => {
  const start = performance.now()
  const ranks = Array.from({ length: RANKS }, (_, rank) => rank)
  await store.request('spanTile', { run, ranks, startNs, endNs, buckets })
  return performance.now() - start
}

/** @param {any} store @param {string} run */
const tileTimes = async (store, run) => {
  const { startNs, endNs } = await store.request('runInfo', { run })
  const span = endNs - startNs
  const cold = await tile(store, run, startNs, endNs, 1024)
  const whole = []
  for (let i = 0; i < 20; i++) whole.push(await tile(store, run, startNs, endNs, 1024))
  const zoomed = []
  for (let i = 0; i < 200; i++) {
    const width = span / 2 ** (i % 16)
    const from = startNs + random() * (span - width)
    zoomed.push(await tile(store, run, from, from + width, 1024))
  }
  return {
    coldMs: rounded(cold),
    wholeMs: { p50: rounded(quantile(whole, 0.5)), p95: rounded(quantile(whole, 0.95)) },
    zoomedMs: { p50: rounded(quantile(zoomed, 0.5)), p95: rounded(quantile(zoomed, 0.95)) },
  }
}

const scratch = mkdtempSync(join(tmpdir(), 'dcpscope-bench-'))
/** @type {Record<string, unknown>} */
const result = { cores: cpus().length, cpu: cpus()[0]?.model.trim(), ranks: RANKS, chunkRows: CHUNK_ROWS }
try {
  for (const spans of [...new Set([1_000_000, LARGEST])]) {
    const store = new Store()
    const byRank = Array.from({ length: RANKS }, (_, rank) => chunksOf(rank, Math.floor(spans / RANKS)))
    const chunks = (byRank[0] ?? []).flatMap((_, i) => byRank.flatMap((list) => list.slice(i, i + 1)))
    const rows = chunks.reduce((sum, chunk) => sum + chunk.rows, 0)
    const bundle = join(scratch, `${spans}.dcp`)
    const began = Date.now()
    const cpuBefore = process.cpuUsage()
    const { seconds } = await write(store, bundle, chunks, `run-${spans}`)
    const cpu = process.cpuUsage(cpuBefore)
    const parts = files(bundle)
    const untilClosed = (lastClosed(parts) - began) / 1000
    result[`spans${spans}`] = {
      spansPerSecond: Math.round(rows / untilClosed),
      /** Sender, copies, summary included; twice this is what two idle cores can do. */
      spansPerCpuSecond: Math.round(rows / ((cpu.user + cpu.system) / 1e6)),
      secondsUntilLastPart: rounded(untilClosed),
      secondsWithSummary: rounded(seconds),
      parts: parts.length,
      bytesPerSpan: rounded(parts.reduce((sum, path) => sum + statSync(path).size, 0) / rows),
      tile: await tileTimes(store, `run-${spans}`),
      residentMb: Math.round(process.memoryUsage().rss / 2 ** 20),
    }
    await store.close()
  }
  const largest = /** @type {{ spansPerSecond: number }} */ (result[`spans${LARGEST}`])
  result.budget = { spansPerSecond: BUDGET, met: largest.spansPerSecond >= BUDGET }
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
process.stdout.write(`${JSON.stringify(result, null, 2)}\n`)
