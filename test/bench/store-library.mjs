// @ts-check
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'
import { nodeBundle } from '../../main/build/node-bundle.mjs'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Bundles the store for this Node and loads it: benchmarks drive it in their own process. */
export const loadStore = async () => {
  const out = join(ROOT, 'build', 'bench')
  const input = { store: 'main/store/store.ts', port: 'main/process/port.ts', config: 'app/run/config.ts' }
  await build(nodeBundle(input, out, { extension: 'cjs', root: ROOT, logLevel: 'error' }))
  const require = createRequire(import.meta.url)
  return {
    Store: require(join(out, 'store.cjs')).Store,
    portPair: require(join(out, 'port.cjs')).portPair,
    runConfigSchema: require(join(out, 'config.cjs')).runConfigSchema,
  }
}

/** Numbers in [0, 1) from a fixed seed, so that every run measures the same. */
export const seededRandom = (/** @type {number} */ seed) => {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

/** Columns of `rows` spans as the engine host sends them: zeros, and no collective. @param {number} rows */
export const emptySpanColumns = (rows) => ({
  step: new Int32Array(rows),
  layer: new Int32Array(rows),
  stage: new Uint8Array(rows),
  stream: new Int32Array(rows),
  start_ns: new BigInt64Array(rows),
  dur_ns: new BigInt64Array(rows),
  bytes: new BigInt64Array(rows),
  flops: new BigInt64Array(rows),
  collective_seq: new Int32Array(rows).fill(-1),
  enter_ns: new BigInt64Array(rows).fill(-1n),
  last_enter_ns: new BigInt64Array(rows).fill(-1n),
  provenance: new Uint8Array(rows),
})
