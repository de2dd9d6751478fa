/**
 * Header of a `.safetensors` file: 8 bytes of little-endian length, that many bytes of JSON, then the data.
 * Pure: files are read and written by main/store. Format: huggingface/safetensors.
 */
export const DTYPE_BYTES = {
  F64: 8,
  F32: 4,
  F16: 2,
  BF16: 2,
  F8_E4M3: 1,
  I64: 8,
  I32: 4,
  U8: 1,
} as const
export type Dtype = keyof typeof DTYPE_BYTES

/** Bytes before the JSON text. */
export const PREFIX_BYTES = 8
export const MAX_HEADER_BYTES = 100 * 2 ** 20

export interface TensorSpec {
  readonly name: string
  readonly dtype: Dtype
  readonly shape: readonly number[]
}

/** Where a tensor lies: bytes [start, end) from the beginning of the file. */
export interface TensorEntry extends TensorSpec {
  readonly start: number
  readonly end: number
}

export interface TensorHeader {
  readonly tensors: ReadonlyMap<string, TensorEntry>
  readonly metadata: ReadonlyMap<string, string>
}

/** One sentence that names the file, the tensor if it is about one, and the rule. */
export class DumpError extends Error {
  override readonly name = 'DumpError'
  constructor(
    readonly file: string,
    readonly tensor: string | undefined,
    readonly rule: string,
  ) {
    super(tensor === undefined ? `${file}: ${rule}` : `${file}: tensor ${tensor}: ${rule}`)
  }
}

export const elementCount = (shape: readonly number[]): number => shape.reduce((count, n) => count * n, 1)

export const tensorBytes = ({ dtype, shape }: Pick<TensorSpec, 'dtype' | 'shape'>): number =>
  elementCount(shape) * DTYPE_BYTES[dtype]

/** Length and JSON, padded so that the data, in the order of `tensors` and without gaps, starts at a multiple of 8. */
export const encodeHeader = (
  tensors: readonly TensorSpec[],
  metadata: Readonly<Record<string, string>>,
): Uint8Array => {
  const entries = new Map<string, unknown>([['__metadata__', metadata]])
  let offset = 0
  for (const { name, dtype, shape } of tensors) {
    const end = offset + tensorBytes({ dtype, shape })
    entries.set(name, { dtype, shape, data_offsets: [offset, end] })
    offset = end
  }
  const json = asciiJson(Object.fromEntries(entries))
  const length = Math.ceil(json.length / 8) * 8
  const bytes = new Uint8Array(PREFIX_BYTES + length).fill(0x20)
  new DataView(bytes.buffer).setBigUint64(0, BigInt(length), true)
  for (let i = 0; i < json.length; i++) bytes[PREFIX_BYTES + i] = json.charCodeAt(i)
  return bytes
}

const asciiJson = (value: unknown): string =>
  JSON.stringify(value).replace(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

/** Bytes of JSON that follow the first 8 bytes. Throws DumpError. */
export const headerLength = (prefix: Uint8Array, fileBytes: number, file: string): number => {
  if (prefix.byteLength < PREFIX_BYTES || fileBytes < PREFIX_BYTES)
    throw new DumpError(file, undefined, `is truncated: ${fileBytes} bytes are less than a header`)
  const length = Number(new DataView(prefix.buffer, prefix.byteOffset, PREFIX_BYTES).getBigUint64(0, true))
  if (length > MAX_HEADER_BYTES)
    throw new DumpError(file, undefined, `has a header of ${length} bytes, more than ${MAX_HEADER_BYTES}`)
  if (PREFIX_BYTES + length > fileBytes)
    throw new DumpError(
      file,
      undefined,
      `is truncated: the header needs ${PREFIX_BYTES + length} bytes, the file has ${fileBytes}`,
    )
  return length
}

/** Parses and validates the JSON of a header; `dataStart` is where the data begins in the file. Throws DumpError. */
export const parseHeader = (
  json: string,
  dataStart: number,
  fileBytes: number,
  file: string,
): TensorHeader => {
  const root = parsedObject(json, file)
  const tensors = new Map<string, TensorEntry>()
  for (const [name, value] of Object.entries(root))
    if (name !== '__metadata__') tensors.set(name, tensorEntry(name, value, dataStart, fileBytes, file))
  refuseOverlaps([...tensors.values()], file)
  return { tensors, metadata: metadataOf(root, file) }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const parsedObject = (json: string, file: string): Record<string, unknown> => {
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch {
    throw new DumpError(file, undefined, 'has a header that is not JSON')
  }
  if (!isRecord(value)) throw new DumpError(file, undefined, 'has a header that is not a JSON object')
  return value
}

const metadataOf = (root: Record<string, unknown>, file: string): Map<string, string> => {
  const given = Object.hasOwn(root, '__metadata__') ? root.__metadata__ : {}
  if (!isRecord(given)) throw new DumpError(file, undefined, '__metadata__ must be an object')
  const metadata = new Map<string, string>()
  for (const [key, value] of Object.entries(given)) {
    if (typeof value !== 'string')
      throw new DumpError(file, undefined, `__metadata__.${key} must be a string`)
    metadata.set(key, value)
  }
  return metadata
}

const isDtype = (value: unknown): value is Dtype =>
  typeof value === 'string' && Object.hasOwn(DTYPE_BYTES, value)

const isSize = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0

const tensorEntry = (
  name: string,
  value: unknown,
  dataStart: number,
  fileBytes: number,
  file: string,
): TensorEntry => {
  const refuse = (rule: string): never => {
    throw new DumpError(file, name, rule)
  }
  if (!isRecord(value)) return refuse('must be an object')
  const { dtype, shape, data_offsets: offsets } = value
  if (!isDtype(dtype))
    return refuse(
      `has the unknown type ${JSON.stringify(dtype)}; known are ${Object.keys(DTYPE_BYTES).join(', ')}`,
    )
  if (!Array.isArray(shape) || !shape.every(isSize)) return refuse('shape must be a list of sizes')
  if (!Array.isArray(offsets) || offsets.length !== 2 || !offsets.every(isSize))
    return refuse('data_offsets must be two positions')
  const [begin = 0, end = 0] = offsets
  const bytes = tensorBytes({ dtype, shape })
  if (end - begin !== bytes)
    return refuse(`[${shape.join(', ')}] of ${dtype} takes ${bytes} bytes, data_offsets give ${end - begin}`)
  if (dataStart + end > fileBytes)
    return refuse(`is truncated: it ends at byte ${dataStart + end}, the file has ${fileBytes}`)
  return { name, dtype, shape, start: dataStart + begin, end: dataStart + end }
}

const refuseOverlaps = (entries: readonly TensorEntry[], file: string): void => {
  const sorted = entries.filter((e) => e.end > e.start).sort((a, b) => a.start - b.start)
  sorted.forEach((entry, i) => {
    const before = sorted[i - 1]
    if (before !== undefined && before.end > entry.start)
      throw new DumpError(file, entry.name, `overlaps tensor ${before.name}`)
  })
}
