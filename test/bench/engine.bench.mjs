// Speed of the CPU engine against this machine's read bandwidth, as one JSON document on stdout. Other work on the
// machine shows in the spread and in `load`, the number of runnable threads just before.
//   node test/bench/engine.bench.mjs [--quick]
import { createRequire } from 'node:module'
import { loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'

const addon = createRequire(import.meta.url)(
  fileURLToPath(new URL('../../dist/native/dcpscope.node', import.meta.url)),
)
const quick = process.argv.includes('--quick')
const DECODE_ATTN = 3
const KEY_WIDTH = 576
const VALUE_WIDTH = 512

const base = {
  ranks: 1,
  heads: 16,
  kvLoraRank: VALUE_WIDTH,
  ropeDim: KEY_WIDTH - VALUE_WIDTH,
  kvHeads: 0,
  headDim: 0,
  layers: 1,
  softmaxScale: 1 / Math.sqrt(KEY_WIDTH),
  interleave: 1,
  restarts: false,
  comm: 'ag_rs',
  wireFp32: false,
  replicateQ: false,
  pageSize: 64,
  kvDtype: 'bf16',
  poolTokens: 0,
  shuffledPages: true,
  contextLens: [4096],
  qLen: 1,
  draft: false,
  acceptedPerStep: 1,
  steps: quick ? 5 : 15,
  warmup: 2,
  seed: 1,
  needles: false,
  topk: 0,
  lseBase: 'e',
  emptyRow: 'neutral',
  lseType: 'fp32',
  lseLayout: '[T,H]',
  paddedHeads: 0,
  zeroWeight: 'dropped',
  allEmpty: 'zero',
  processes: false,
  device: 'cpu',
  graph: false,
  padRequests: 0,
  padLength: 0,
  restOfLayerBytes: 0,
  restOfLayerFlops: 0,
  rowStats: true,
  observer: false,
  checkRows: 0,
  captureSteps: [],
  captureLayers: [],
  kernelSteps: [],
  faults: [],
}

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1]

const spread = (values) => ({ median: median(values), min: Math.min(...values), max: Math.max(...values) })

/** Columns of a table over all ranks, `{ name: number[] }`. */
const collect = (chunks, table) => {
  const columns = {}
  for (const chunk of chunks)
    if (chunk.table === table)
      for (const [name, values] of Object.entries(chunk.columns))
        columns[name] = (columns[name] ?? []).concat(Array.from(values, Number))
  return columns
}

const measure = async (over) => {
  const config = { ...base, ...over }
  const run = addon.createRun(config)
  const fillBegin = performance.now()
  while ((await run.fill(1000)) < 1);
  const fillMs = performance.now() - fillBegin
  const chunks = []
  const begin = performance.now()
  for (let finished = false; !finished; ) {
    finished = (await run.advance(1e6, 500, 0)).finished
    for (let drained = run.drain(1 << 20); drained.length > 0; drained = run.drain(1 << 20))
      chunks.push(...drained)
  }
  const allMs = performance.now() - begin
  run.dispose()
  const steps = collect(chunks, 'steps')
  const spans = collect(chunks, 'spans')
  const isAttention = spans.stage.map((stage) => stage === DECODE_ATTN)
  const perStep = (name) => {
    const sums = new Array(config.steps).fill(0)
    spans[name].forEach((value, i) => {
      if (isAttention[i]) sums[spans.step[i]] += value
    })
    return sums
  }
  const [bytes, flops] = [perStep('bytes'), perStep('flops')]
  // With several ranks on shared cores spans overlap: the step's wall time is what all of them took together.
  const ns = config.ranks === 1 ? perStep('dur_ns') : steps.wall_ns
  const stepMs = steps.wall_ns.map((wall) => wall / 1e6)
  return {
    heads: config.heads,
    ranks: config.ranks,
    requests: config.contextLens.length,
    context: config.contextLens[0],
    qLen: config.qLen,
    kvDtype: config.kvDtype,
    stepMs: spread(stepMs),
    tokensPerSecond: median(steps.wall_ns.map((wall, i) => (steps.tokens[i] * 1e9) / wall)),
    attnGBs: spread(ns.map((t, i) => bytes[i] / t)),
    attnGFLOPs: spread(ns.map((t, i) => flops[i] / t)),
    fillTokensPerSecond: (config.contextLens.reduce((a, b) => a + b) * config.layers * 1000) / fillMs,
    checked: steps.checked_rows.reduce((a, b) => a + b),
    checkAndInputsShare: 1 - stepMs.reduce((a, b) => a + b) / allMs,
  }
}

const load = loadavg()[0]
const bandwidth = await addon.measureReadBandwidth()
const shapes = []
for (const heads of [1, 16, 64, 128])
  for (const context of [4096, 32768]) shapes.push({ heads, contextLens: [context] })
const results = []
for (const shape of shapes) results.push(await measure(shape))
results.push(await measure({ heads: 16, contextLens: [32768], kvDtype: 'fp32' }))
results.push(await measure({ heads: 16, contextLens: [8192], qLen: 8, acceptedPerStep: 8 }))
results.push(await measure({ heads: 16, ranks: 4, contextLens: [4096, 4096, 4096, 4096] }))
results.push(
  await measure({ heads: 16, ranks: 4, contextLens: [4096, 4096], layers: 4, checkRows: -1, steps: 30 }),
)
for (const result of results) result.bandwidthShare = (result.attnGBs.median * 1e9) / bandwidth
console.log(
  JSON.stringify(
    { benchmark: 'engine', load, cpu: addon.cpu(), readBandwidthGBs: bandwidth / 1e9, results },
    null,
    2,
  ),
)
