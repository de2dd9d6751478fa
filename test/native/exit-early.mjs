// Leaves the process in the way that argv[2] names while the engine works on steps that would take minutes.
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { isMainThread, Worker } from 'node:worker_threads'

const addon = createRequire(import.meta.url)(
  process.env.DCPSCOPE_ADDON ?? fileURLToPath(new URL('../../dist/native/dcpscope.node', import.meta.url)),
)
const config = {
  ranks: 2,
  heads: 128,
  kvLoraRank: 512,
  ropeDim: 64,
  kvHeads: 0,
  headDim: 0,
  layers: 20,
  softmaxScale: 0.05,
  interleave: 1,
  restarts: false,
  comm: 'ag_rs',
  wireFp32: false,
  replicateQ: false,
  pageSize: 64,
  kvDtype: 'bf16',
  poolTokens: 0,
  shuffledPages: false,
  contextLens: [2000],
  qLen: 8,
  draft: false,
  acceptedPerStep: 8,
  steps: 1000,
  warmup: 0,
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

const begin = async () => {
  const run = addon.createRun(config)
  while ((await run.fill(1000)) < 1);
  return { run, advancing: run.advance(1000, 1e9, 0) }
}

const later = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

if (!isMainThread) {
  await begin()
  await later(1e6)
}
const way = process.argv[2]
if (way === 'worker') {
  // A worker thread that is ended in the middle of a step, and a process that lives on.
  const worker = new Worker(new URL(import.meta.url))
  await later(1500)
  await worker.terminate()
  console.log('leaving')
} else {
  const { run, advancing } = await begin()
  advancing.catch(() => {})
  await later(100)
  console.log('leaving')
  if (way === 'exit') process.exit(0)
  run.dispose()
  await advancing.catch(() => {})
}
