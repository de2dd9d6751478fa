// Quality of the blind diagnosis on randomly drawn runs of the CPU engine with known faults and withheld tensors, as one JSON
// document on stdout: what came of cases with a fault and of healthy ones, and which fault was taken for which.
//   node test/bench/diagnosis.bench.mjs [--cases 1150] [--healthy 1000] [--seed 1] [--only FAULT]
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { build } from 'vite'
import { nodeBundle } from '../../main/build/node-bundle.mjs'
import { ROOT } from './store-library.mjs'

/** @param {string} name @param {string} otherwise */
const option = (name, otherwise) => {
  const at = process.argv.indexOf(`--${name}`)
  return at < 0 ? otherwise : (process.argv[at + 1] ?? otherwise)
}
const cases = Number(option('cases', '1150'))
const healthy = Number(option('healthy', '1000'))
const seed = Number(option('seed', '1'))
const only = option('only', '')

const out = join(ROOT, 'build', 'bench')
const input = {
  'diagnosis-worker': 'test/bench/diagnosis/worker.ts',
  'diagnosis-summary': 'test/bench/diagnosis/summary.ts',
}
await build(nodeBundle(input, out, { extension: 'cjs', root: ROOT, logLevel: 'error' }))
const { summary } = createRequire(import.meta.url)(join(out, 'diagnosis-summary.cjs'))

const THREADS = 2
const begin = performance.now()
/** @type {import('./diagnosis/trial.ts').Trial[]} */
const trials = []
await Promise.all(
  Array.from({ length: THREADS }, (_, first) => {
    const of = { first, stride: THREADS, seed, ...(only === '' ? {} : { only }) }
    const parts = [
      { ...of, kind: 'faults', count: cases },
      { ...of, kind: 'healthy', count: healthy, seed: seed + 1_000_000 },
    ]
    const addonPath = join(ROOT, 'dist', 'native', 'dcpscope.node')
    const worker = new Worker(join(out, 'diagnosis-worker.cjs'), { workerData: { addonPath, parts } })
    worker.on('message', (trial) => trials.push(trial))
    return new Promise((resolve, reject) => {
      worker.on('error', reject)
      worker.on('exit', resolve)
    })
  }),
)
console.log(
  JSON.stringify(
    { benchmark: 'diagnosis', seed, minutes: (performance.now() - begin) / 60_000, ...summary(trials) },
    null,
    2,
  ),
)
