import { join } from 'node:path'
import { dumpInfo } from '../../app/dump/dump.ts'
import type { TensorReader } from '../../app/dump/reader.ts'
import { vectorError } from '../../app/lse/error.ts'
import type { StoreParams, StoreResult } from '../../app/protocol/store.ts'
import type { RunConfig } from '../../app/run/config.ts'
import { type CaptureRef, captureFolder } from './bundle-files.ts'
import { isMissing, StoreProblem } from './problem.ts'
import { openTensorFile } from './tensor-file.ts'

/** The files of one captured (step, layer): one a rank, and the reference where there is one. */
interface CaptureFiles {
  readonly ranks: readonly TensorReader[]
  readonly reference: TensorReader | undefined
  /** Query rows T, gathered heads H, values W of one partial. */
  readonly rows: number
  readonly heads: number
  readonly width: number
}

const withCapture = async <T>(
  bundle: string,
  ref: CaptureRef,
  dcpSize: number,
  work: (files: CaptureFiles) => Promise<T>,
): Promise<T> => {
  const folder = captureFolder(bundle, ref)
  const opened: TensorReader[] = []
  const openFile = async (name: string): Promise<TensorReader | undefined> => {
    try {
      const file = await openTensorFile(join(folder, `${name}.safetensors`))
      opened.push(file)
      return file
    } catch (error) {
      if (isMissing(error)) return undefined
      throw error
    }
  }
  try {
    const ranks: TensorReader[] = []
    for (let rank = 0; rank < dcpSize; rank++) {
      const file = await openFile(`rank=${rank}`)
      if (file === undefined)
        throw new StoreProblem(
          rank === 0
            ? `step ${ref.step}, layer ${ref.layer} was not captured`
            : `the capture of step ${ref.step}, layer ${ref.layer} lacks rank ${rank}`,
        )
      dumpInfo(file.header, join(folder, `rank=${rank}.safetensors`))
      ranks.push(file)
    }
    const [rows = 0, heads = 0, width = 0] = ranks[0]?.tensor('out').shape ?? []
    return await work({ ranks, reference: await openFile('reference'), rows, heads, width })
  } finally {
    await Promise.all(opened.map((file) => file.close()))
  }
}

/** Where the merged values of a head lie: the rank, the row length in heads, and the head's place in it. */
const mergedPlace = (
  { ranks, heads }: CaptureFiles,
  head: number,
): { rank: number; kept: number; place: number } => {
  const kept = ranks[0]?.tensor('merged').shape[1] ?? heads
  return kept === heads
    ? { rank: 0, kept, place: head }
    : { rank: Math.floor(head / kept), kept, place: head % kept }
}

/** `visible` gives the visible keys of (rank, row) from the `rows` table, -1 where it has none. */
export const captureShape = (
  bundle: string,
  config: RunConfig,
  ref: CaptureRef,
  rowStats: StoreResult<'rows'>,
): Promise<StoreResult<'capture'>> =>
  withCapture(bundle, ref, config.parallel.dcpSize, async (files) => {
    const { rows, heads, width, ranks, reference } = files
    const { qLen } = config.workload
    const rowNumbers = Int32Array.from({ length: rows }, (_, t) => t)
    return {
      rows,
      heads,
      ranks: ranks.length,
      width,
      lseBase: config.engine.lseBase,
      request: rowNumbers.map((t) => Math.floor(t / qLen)),
      qIndex: rowNumbers.map((t) => t % qLen),
      visibleKeys: visibleKeys(rowStats, ranks.length, rows, qLen),
      hasReference: reference !== undefined,
      relErr:
        reference === undefined
          ? new Float32Array(rows * heads).fill(Number.NaN)
          : await errors(files, reference),
    }
  })

const visibleKeys = (
  stats: StoreResult<'rows'>,
  ranks: number,
  rows: number,
  qLen: number,
): Int32Array<ArrayBuffer> => {
  const keys = new Int32Array(ranks * rows).fill(-1)
  stats.rank.forEach((rank, i) => {
    const row = (stats.request[i] ?? 0) * qLen + (stats.qIndex[i] ?? 0)
    if (rank < ranks && row < rows) keys[rank * rows + row] = stats.visibleKeys[i] ?? -1
  })
  return keys
}

/** Relative error, norm over the values of one (row, head), [T * H]. */
const errors = async (files: CaptureFiles, reference: TensorReader): Promise<Float32Array<ArrayBuffer>> => {
  const { ranks, rows, heads, width } = files
  const found = new Float32Array(rows * heads)
  const { kept } = mergedPlace(files, 0)
  for (let row = 0; row < rows; row++) {
    const expected = await reference.values('out', row * heads * width, heads * width)
    for (const [rank, file] of (kept === heads ? ranks.slice(0, 1) : ranks).entries()) {
      const merged = await file.values('merged', row * kept * width, kept * width)
      for (let place = 0; place < kept; place++) {
        const head = rank * kept + place
        found[row * heads + head] = vectorError(
          merged.subarray(place * width, (place + 1) * width),
          expected.subarray(head * width, (head + 1) * width),
        ).relative
      }
    }
  }
  return found
}

export const captureLse = (
  bundle: string,
  config: RunConfig,
  ref: CaptureRef,
): Promise<StoreResult<'captureLse'>> =>
  withCapture(bundle, ref, config.parallel.dcpSize, async ({ ranks, rows, heads }) => ({
    lse: await fromAll(ranks, 'lse', 0, rows * heads),
  }))

/** The same `count` values of a tensor from every rank, one rank after the other. */
const fromAll = async (
  ranks: readonly TensorReader[],
  name: string,
  from: number,
  count: number,
): Promise<Float32Array<ArrayBuffer>> => {
  const parts = await Promise.all(ranks.map((file) => file.values(name, from, count)))
  const all = new Float32Array(count * parts.length)
  parts.forEach((part, i) => {
    all.set(part, i * count)
  })
  return all
}

export const mergeRow = (
  bundle: string,
  config: RunConfig,
  { step, layer, row, head }: Omit<StoreParams<'mergeRow'>, 'run'>,
): Promise<StoreResult<'mergeRow'>> =>
  withCapture(bundle, { step, layer }, config.parallel.dcpSize, async (files) => {
    const { ranks, reference, rows, heads, width } = files
    if (row < 0 || row >= rows) throw new StoreProblem(`row must be 0 to ${rows - 1}, got ${row}`)
    if (head < 0 || head >= heads) throw new StoreProblem(`head must be 0 to ${heads - 1}, got ${head}`)
    const at = row * heads + head
    const { rank, kept, place } = mergedPlace(files, head)
    const holder = ranks[rank]
    if (holder === undefined) throw new StoreProblem(`no rank holds head ${head} after the merge`)
    const kernelOr = (name: 'out' | 'lse'): string =>
      ranks.every((file) => file.has(`${name}_kernel`)) ? `${name}_kernel` : name
    return {
      lse: await fromAll(ranks, 'lse', at, 1),
      out: await fromAll(ranks, 'out', at * width, width),
      lseKernel: await fromAll(ranks, kernelOr('lse'), at, 1),
      outKernel: await fromAll(ranks, kernelOr('out'), at * width, width),
      merged: Float32Array.from(await holder.values('merged', (row * kept + place) * width, width)),
      mergedRank: rank,
      reference: (await reference?.values('out', at * width, width)) ?? null,
      referenceLse: reference?.has('lse') ? finiteOrNull((await reference.values('lse', at, 1))[0]) : null,
    }
  })

/** -inf of a row without keys cannot pass a schema of numbers, and NaN stands for "not computed". */
const finiteOrNull = (value: number | undefined): number | null =>
  value !== undefined && Number.isFinite(value) ? value : null
