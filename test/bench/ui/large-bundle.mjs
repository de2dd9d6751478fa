// @ts-check
/** A bundle of many spans, written through the store as the engine host does. */
import { emptySpanColumns, loadStore, seededRandom } from '../store-library.mjs'

export const RANKS = 8
const LAYERS = 27
/** Stages of a layer with ag_rs, by code; 1, 6 and 8 are collectives. */
const LAYER_STAGES = [0, 1, 2, 3, 5, 6, 7, 8, 11]
const CHUNK_ROWS = 15_000
const PER_STEP = LAYERS * LAYER_STAGES.length
const LAYER_NS = 60_000
const STEP_NS = LAYERS * LAYER_NS
const CREDIT_BYTES = 8 << 20

/** Spans [from, from + rows) of one rank: layers of a step in turn, waiting of random length in collectives. */
const chunkOf = (
  /** @type {() => number} */ random,
  /** @type {number} */ rank,
  /** @type {number} */ from,
  /** @type {number} */ rows,
) => {
  const columns = emptySpanColumns(rows)
  const share = LAYER_NS / LAYER_STAGES.length
  for (let i = 0; i < rows; i++) {
    const at = from + i
    const step = Math.floor(at / PER_STEP)
    const place = at % LAYER_STAGES.length
    const layer = Math.floor(at / LAYER_STAGES.length) % LAYERS
    const stage = LAYER_STAGES[place] ?? 0
    const start = Math.floor(step * STEP_NS * 1.02 + layer * LAYER_NS + place * share)
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

const manifestOf = (/** @type {unknown} */ config) => ({
  format: 'dcpscope-run',
  formatVersion: 1,
  name: 'many spans',
  status: 'running',
  config,
  devices: [{ name: 'bench', kind: 'cpu', detail: 'generated spans' }],
  versions: {},
  clock: { base: new Date(0).toISOString(), alignment: 'one clock', uncertaintyNs: 0 },
  createdAt: new Date().toISOString(),
})

/** @param {number} spans */
const makersOf = (spans) => {
  const random = seededRandom(7)
  const perRank = Math.floor(spans / RANKS)
  /** @type {(() => any)[]} */
  const makers = [() => stepsChunk(Math.ceil(perRank / PER_STEP))]
  for (let from = 0; from < perRank; from += CHUNK_ROWS)
    for (let rank = 0; rank < RANKS; rank++)
      makers.push(() => chunkOf(random, rank, from, Math.min(CHUNK_ROWS, perRank - from)))
  return makers
}

/** @param {string} bundle @param {number} spans @returns {Promise<number>} spans that were written */
export const writeLargeBundle = async (bundle, spans) => {
  const { Store, portPair, runConfigSchema } = await loadStore()
  const config = runConfigSchema.parse({ parallel: { tpSize: RANKS, dcpSize: RANKS } })
  const store = new Store()
  const [engine, storeEnd] = portPair()
  store.attachEngine(storeEnd)
  const makers = makersOf(spans)
  const runId = 'bench'
  let written = 0
  await new Promise((resolve, reject) => {
    let outstanding = 0
    const pump = () => {
      while (outstanding < CREDIT_BYTES) {
        const make = makers.shift()
        if (make === undefined) {
          if (outstanding === 0)
            engine.post({ type: 'end', runId, status: 'complete', dropped: 0, captureNotes: [] })
          return
        }
        const chunk = make()
        if (chunk.table === 'spans') written += chunk.rows
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
    engine.post({ type: 'begin', runId, bundle, manifest: manifestOf(config) })
    pump()
  })
  await store.close()
  return written
}
