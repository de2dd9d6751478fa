import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { vi } from 'vitest'
import { decodeValues } from '../../app/dump/values.ts'
import type { EngineConfig } from '../../app/run/engine-config.ts'
import type {
  NativeAddon,
  NativeAttention,
  NativeCapture,
  NativeChunk,
  NativeKernelRecorder,
  NativeLayoutRules,
  NativeRun,
  NativeTensor,
} from '../../main/engine/addon.ts'

/** The built addon, or the one that DCPSCOPE_ADDON names. */
export const addonPath =
  process.env.DCPSCOPE_ADDON ?? fileURLToPath(new URL('../../dist/native/dcpscope.node', import.meta.url))

const loadAddon = (): NativeAddon & NativeAttention & NativeLayoutRules & NativeKernelRecorder => {
  if (!existsSync(addonPath))
    throw new Error(`build the native engine first (npm run build): no ${addonPath}`)
  return createRequire(import.meta.url)(addonPath)
}

export const addon = loadAddon()

// Machines under load are slow; no test here is about time.
vi.setConfig({ testTimeout: 60_000 })

/** A small run: two ranks, four heads, 32 + 16 values a key, contexts around the borders of pages. */
export const smallConfig = (over: Partial<EngineConfig> = {}): EngineConfig => ({
  ranks: 2,
  heads: 4,
  kvLoraRank: 32,
  ropeDim: 16,
  kvHeads: 0,
  headDim: 0,
  layers: 2,
  softmaxScale: 0.15,
  interleave: 1,
  restarts: false,
  comm: 'ag_rs',
  wireFp32: false,
  replicateQ: false,
  pageSize: 8,
  kvDtype: 'fp32',
  poolTokens: 0,
  shuffledPages: false,
  contextLens: [0, 1, 15, 16, 17, 40],
  qLen: 1,
  draft: false,
  acceptedPerStep: 1,
  steps: 3,
  warmup: 1,
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
  checkRows: -2,
  captureSteps: [],
  captureLayers: [],
  kernelSteps: [],
  faults: [],
  ...over,
})

export interface Finished {
  readonly chunks: readonly NativeChunk[]
  readonly captures: readonly NativeCapture[]
  readonly dropped: number
}

export const fillAll = async (run: NativeRun): Promise<void> => {
  while ((await run.fill(1000)) < 1);
}

export const drainAll = (run: NativeRun, maxBytes = 1 << 20): NativeChunk[] => {
  const all: NativeChunk[] = []
  for (let chunks = run.drain(maxBytes); chunks.length > 0; chunks = run.drain(maxBytes)) all.push(...chunks)
  return all
}

/** Runs a configuration to its end. */
export const finish = async (config: EngineConfig): Promise<Finished> => {
  const run = addon.createRun(config)
  try {
    await fillAll(run)
    const chunks: NativeChunk[] = []
    const captures: NativeCapture[] = []
    for (let finished = false; !finished; ) {
      finished = (await run.advance(1 << 20, 1000, 0)).finished
      chunks.push(...drainAll(run))
      captures.push(...run.takeCaptures())
    }
    return { chunks, captures, dropped: run.dropped() }
  } finally {
    run.dispose()
  }
}

/** One column of a table over all its chunks, as numbers; `rank` -1 for tables that are not per rank. */
export const column = (
  chunks: readonly NativeChunk[],
  table: NativeChunk['table'],
  rank: number,
  name: string,
): number[] =>
  chunks
    .filter((c) => c.table === table && c.rank === rank)
    .flatMap((c) => {
      const values = c.columns[name]
      if (values === undefined) throw new Error(`${table} has no column ${name}`)
      return Array.from(values, Number)
    })

/** Rows of a table as objects. */
export const rowsOf = (
  chunks: readonly NativeChunk[],
  table: NativeChunk['table'],
  rank: number,
): Record<string, number>[] =>
  chunks
    .filter((c) => c.table === table && c.rank === rank)
    .flatMap((c) =>
      Array.from({ length: c.rows }, (_, i) =>
        Object.fromEntries(Object.entries(c.columns).map(([name, values]) => [name, Number(values[i])])),
      ),
    )

export const worst = (values: readonly number[]): number => Math.max(0, ...values)

export const captureOf = (
  run: Pick<Finished, 'captures'>,
  rank: number,
  step?: number,
  layer?: number,
): NativeCapture => {
  const found = run.captures.find(
    (c) => c.rank === rank && (step ?? c.step) === c.step && (layer ?? c.layer) === c.layer,
  )
  if (found === undefined) throw new Error(`no capture of rank ${rank}`)
  return found
}

export const tensorOf = (capture: NativeCapture, name: string): NativeTensor => {
  const found = capture.tensors.find((t) => t.name === name)
  if (found === undefined) throw new Error(`rank ${capture.rank} has no tensor ${name}`)
  return found
}

/** Values of a captured tensor as doubles. */
export const valuesOf = (capture: NativeCapture, name: string): Float64Array => {
  const { dtype, data } = tensorOf(capture, name)
  return decodeValues(new Uint8Array(data), dtype)
}

/** Value at `index`; an index outside is an error of the test. */
export const at = (values: ArrayLike<number>, index: number): number => {
  const value = values[index]
  if (value === undefined) throw new Error(`index ${index} is outside 0 to ${values.length - 1}`)
  return value
}

export const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : String(error)

/** `code: message` of what `call` throws. */
export const thrown = (call: () => unknown): string => {
  try {
    call()
  } catch (error) {
    return `${codeOf(error)}: ${error instanceof Error ? error.message : String(error)}`
  }
  return 'nothing was thrown'
}
