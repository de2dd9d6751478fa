import {
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  statSync,
} from 'node:fs'
import { join, relative, sep } from 'node:path'
import { TABLES, type TableName } from '../../app/trace/tables.ts'
import { isMissing, StoreProblem } from './problem.ts'

/** Names within a bundle. Temporary names begin with a dot and do not end in .parquet, so every reader skips them. */
export const MANIFEST_FILE = 'run.json'
const TENSORS_FOLDER = 'tensors'

export const partName = (number: number): string => `part-${String(number).padStart(6, '0')}.parquet`

export const temporaryName = (name: string): string => `.${name}.tmp`

export const tableFolder = (bundle: string, table: TableName, rank: number): string =>
  TABLES[table].perRank ? join(bundle, table, `rank=${rank}`) : join(bundle, table)

/**
 * Makes `folder` below `bundle`. The bundle's own folder is never made anew: when it is gone, somebody removed it,
 * and the caller gets ENOENT.
 */
export const makeFolder = (bundle: string, folder: string): void => {
  let path = bundle
  for (const level of relative(bundle, folder).split(sep)) {
    path = join(path, level)
    try {
      mkdirSync(path)
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    }
  }
}

export interface Part {
  readonly path: string
  /** -1 for a table that is not per rank. */
  readonly rank: number
}

const namesIn = (folder: string): string[] => {
  try {
    return readdirSync(folder).sort()
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

const partsIn = (folder: string, rank: number): Part[] =>
  namesIn(folder)
    .filter((name) => /^[^._].*\.parquet$/.test(name))
    .map((name) => ({ path: join(folder, name), rank }))

/** Number of the last part in a folder of a table, 0 where there is none: a writer that goes on begins behind it. */
export const lastPart = (folder: string): number =>
  Math.max(0, ...namesIn(folder).map((name) => Number(/^part-(\d{6,9})\.parquet$/.exec(name)?.[1] ?? 0)))

/** Parts of a table that are closed by now, in order of rank, then of writing. */
export const listParts = (bundle: string, table: TableName): Part[] => {
  const folder = join(bundle, table)
  if (!TABLES[table].perRank) return partsIn(folder, -1)
  return namesIn(folder)
    .flatMap((name) => {
      const rank = /^rank=(\d{1,9})$/.exec(name)?.[1]
      return rank === undefined ? [] : [{ name, rank: Number(rank) }]
    })
    .sort((a, b) => a.rank - b.rank)
    .flatMap(({ name, rank }) => partsIn(join(folder, name), rank))
}

/** Refuses a part that is not a whole Parquet file; the rest of the bundle can be opened without it. */
export const checkPart = (path: string): void => {
  const problem = partProblem(path)
  if (problem !== undefined)
    throw new StoreProblem(`a part of the bundle ${problem}; move it away to open the rest: ${path}`)
}

const MAGIC = 'PAR1'

const partProblem = (path: string): string | undefined => {
  // Before it is opened, which would wait for ever for the writer of a pipe.
  if (!statSync(path).isFile()) return 'is not a file'
  const file = openSync(path, 'r')
  try {
    const { size } = fstatSync(file)
    if (size < 12) return 'is truncated'
    const head = Buffer.alloc(4)
    const tail = Buffer.alloc(8)
    readSync(file, head, 0, 4, 0)
    readSync(file, tail, 0, 8, size - 8)
    if (head.toString('latin1') !== MAGIC) return 'is not a Parquet file'
    if (tail.toString('latin1', 4) !== MAGIC) return 'is truncated'
    return tail.readUInt32LE(0) > size - 12 ? 'is truncated' : undefined
  } finally {
    closeSync(file)
  }
}

export interface CaptureRef {
  readonly step: number
  readonly layer: number
}

export const captureFolder = (bundle: string, { step, layer }: CaptureRef): string =>
  join(bundle, TENSORS_FOLDER, `step=${step}`, `layer=${layer}`)

/** Whether the reference is closed, which the engine sends after the ranks. */
export const hasReference = (bundle: string, ref: CaptureRef): boolean =>
  existsSync(join(captureFolder(bundle, ref), 'reference.safetensors'))

/** Captured (step, layer) pairs of which at least one file is closed, in order. */
export const listCaptures = (bundle: string): CaptureRef[] => {
  const numbered = (folder: string, key: string): number[] =>
    namesIn(folder)
      .flatMap((name) => {
        const number = new RegExp(`^${key}=(\\d{1,9})$`).exec(name)?.[1]
        return number === undefined ? [] : [Number(number)]
      })
      .sort((a, b) => a - b)
  const tensors = join(bundle, TENSORS_FOLDER)
  return numbered(tensors, 'step').flatMap((step) =>
    numbered(join(tensors, `step=${step}`), 'layer')
      .map((layer) => ({ step, layer }))
      .filter((ref) =>
        namesIn(captureFolder(bundle, ref)).some((name) => /^rank=\d+\.safetensors$/.test(name)),
      ),
  )
}
