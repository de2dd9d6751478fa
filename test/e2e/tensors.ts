import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Tensor {
  readonly shape: readonly number[]
  /** Values in row-major order, as float64. */
  readonly values: Float64Array
}

interface Entry {
  readonly dtype: string
  readonly shape: readonly number[]
  readonly data_offsets: readonly [number, number]
}

const isEntry = (value: unknown): value is Entry =>
  typeof value === 'object' &&
  value !== null &&
  'dtype' in value &&
  'shape' in value &&
  'data_offsets' in value &&
  Array.isArray(value.shape) &&
  Array.isArray(value.data_offsets)

const READERS: Readonly<Record<string, [bytes: number, read: (view: DataView, at: number) => number]>> = {
  F64: [8, (view, at) => view.getFloat64(at, true)],
  F32: [4, (view, at) => view.getFloat32(at, true)],
  BF16: [
    2,
    (view, at) => {
      const bits = new DataView(new ArrayBuffer(4))
      bits.setUint32(0, view.getUint16(at, true) * 0x10000)
      return bits.getFloat32(0)
    },
  ],
  I32: [4, (view, at) => view.getInt32(at, true)],
  I64: [8, (view, at) => Number(view.getBigInt64(at, true))],
}

/**
 * A tensor of a safetensors file, read by the published layout (8 bytes header length, JSON header, data) and by
 * nothing of the product, so that both are checked against each other.
 */
export const tensorIn = (file: string, name: string): Tensor => {
  const bytes = readFileSync(file)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const headerBytes = Number(view.getBigUint64(0, true))
  const header: unknown = JSON.parse(bytes.subarray(8, 8 + headerBytes).toString('utf8'))
  const entry: unknown = typeof header === 'object' && header !== null ? Reflect.get(header, name) : undefined
  if (!isEntry(entry)) throw new Error(`${file} has no tensor ${name}`)
  const reader = READERS[entry.dtype]
  if (reader === undefined)
    throw new Error(`${name} has the type ${entry.dtype}, which this test cannot read`)
  const [size, read] = reader
  const start = 8 + headerBytes + entry.data_offsets[0]
  const count = entry.shape.reduce((product, n) => product * n, 1)
  return {
    shape: entry.shape,
    values: Float64Array.from({ length: count }, (_, i) => read(view, start + i * size)),
  }
}

export const captureFile = (
  bundle: string,
  step: number,
  layer: number,
  part: number | 'reference',
): string =>
  join(
    bundle,
    'tensors',
    `step=${step}`,
    `layer=${layer}`,
    `${part === 'reference' ? part : `rank=${part}`}.safetensors`,
  )

const slice = ({ values }: Tensor, from: number, count: number): Float64Array =>
  values.subarray(from, from + count)

const norm = (values: Float64Array): number => Math.sqrt(values.reduce((sum, x) => sum + x * x, 0))

const distance = (a: Float64Array, b: Float64Array): number => norm(a.map((x, i) => x - (b[i] ?? Number.NaN)))

export interface MergedRow {
  /** One a rank. */
  readonly lse: readonly number[]
  readonly weights: readonly number[]
  readonly mergedLse: number
  /** Relative error of the engine's merged vector against its reference, and against our own merge. */
  readonly againstReference: number
  readonly againstOwnMerge: number
}

/** One row and head of a capture with natural-log lse, merged here from the partials in double precision. */
export const mergedRow = (
  bundle: string,
  step: number,
  layer: number,
  ranks: number,
  row: number,
  head: number,
): MergedRow => {
  const files = Array.from({ length: ranks }, (_, rank) => captureFile(bundle, step, layer, rank))
  const lseOf = files.map((file) => tensorIn(file, 'lse'))
  const outOf = files.map((file) => tensorIn(file, 'out'))
  const [, heads = 0, width = 0] = outOf[0]?.shape ?? []
  const at = row * heads + head
  const lse = lseOf.map((tensor) => tensor.values[at] ?? Number.NaN)
  const largest = Math.max(...lse)
  const mergedLse = largest + Math.log(lse.reduce((sum, x) => sum + Math.exp(x - largest), 0))
  const weights = lse.map((x) => Math.exp(x - mergedLse))
  const own = Float64Array.from({ length: width }, (_, d) =>
    weights.reduce(
      (sum, w, rank) => (w === 0 ? sum : sum + w * (outOf[rank]?.values[at * width + d] ?? 0)),
      0,
    ),
  )
  const share = heads / ranks
  const holder = Math.floor(head / share)
  const merged = slice(
    tensorIn(captureFile(bundle, step, layer, holder), 'merged'),
    (row * share + (head - holder * share)) * width,
    width,
  )
  const reference = slice(tensorIn(captureFile(bundle, step, layer, 'reference'), 'out'), at * width, width)
  return {
    lse,
    weights,
    mergedLse,
    againstReference: distance(merged, reference) / norm(reference),
    againstOwnMerge: distance(merged, own) / norm(own),
  }
}
