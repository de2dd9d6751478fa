import { headerProblem } from './header-scan.ts'
import {
  DTYPE_BYTES,
  type Dtype,
  DumpError,
  MAX_HEADER_BYTES,
  PREFIX_BYTES,
  shapeText,
  shortened,
  shown,
  type TensorEntry,
  type TensorHeader,
  tensorBytes,
} from './safetensors.ts'

/** Bytes of JSON that follow the first 8 bytes. Throws DumpError. */
export const headerLength = (prefix: Uint8Array, fileBytes: number, file: string): number => {
  if (prefix.byteLength < PREFIX_BYTES || fileBytes < PREFIX_BYTES)
    throw new DumpError(file, undefined, `is truncated: ${fileBytes} bytes are less than a header`)
  const length = Number(new DataView(prefix.buffer, prefix.byteOffset, PREFIX_BYTES).getBigUint64(0, true))
  if (length > MAX_HEADER_BYTES)
    throw new DumpError(
      file,
      undefined,
      `is no safetensors file: its first bytes announce a header of ${length} bytes, more than ${MAX_HEADER_BYTES}`,
    )
  if (PREFIX_BYTES + length > fileBytes)
    throw new DumpError(
      file,
      undefined,
      `is truncated: the header needs ${PREFIX_BYTES + length} bytes, the file has ${fileBytes}`,
    )
  return length
}

/**
 * Parses and validates the JSON of a header; `dataStart` is where the data begins in the file. The tensors must fill
 * the rest of the file without gap or overlap. Throws DumpError.
 */
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
  const metadata = metadataOf(root, file)
  checkCover([...tensors.values()], dataStart, fileBytes, file)
  return { tensors, metadata }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const parsedObject = (json: string, file: string): Record<string, unknown> => {
  const problem = headerProblem(json)
  if (problem !== undefined) throw new DumpError(file, undefined, problem)
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
      throw new DumpError(file, undefined, `__metadata__.${shortened(key)} must be a string`)
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
      `${typeof dtype === 'string' ? `has the unknown type ${shown(dtype)}` : 'has a type that is not text'}; known are ${Object.keys(DTYPE_BYTES).join(', ')}`,
    )
  if (!Array.isArray(shape) || !shape.every(isSize)) return refuse('shape must be a list of sizes')
  if (!Array.isArray(offsets) || offsets.length !== 2 || !offsets.every(isSize))
    return refuse('data_offsets must be two positions')
  const [begin = 0, end = 0] = offsets
  const bytes = tensorBytes({ dtype, shape })
  if (end - begin !== bytes)
    return refuse(`${shapeText(shape)} of ${dtype} takes ${bytes} bytes, data_offsets give ${end - begin}`)
  if (dataStart + end > fileBytes)
    return refuse(`is truncated: it ends at byte ${dataStart + end}, the file has ${fileBytes}`)
  return { name, dtype, shape, start: dataStart + begin, end: dataStart + end }
}

/** Every byte behind the header belongs to exactly one tensor. */
const checkCover = (
  entries: readonly TensorEntry[],
  dataStart: number,
  fileBytes: number,
  file: string,
): void => {
  let end = dataStart
  let last: TensorEntry | undefined
  for (const entry of [...entries].sort((a, b) => a.start - b.start || a.end - b.end)) {
    if (entry.start < end)
      throw new DumpError(file, entry.name, `overlaps tensor ${shortened(last?.name ?? '')}`)
    if (entry.start > end)
      throw new DumpError(
        file,
        entry.name,
        `begins ${entry.start - end} bytes after ${last === undefined ? 'the header' : `tensor ${shortened(last.name)}`}: bytes must not be left out`,
      )
    end = entry.end
    last = entry
  }
  if (end < fileBytes)
    throw new DumpError(file, undefined, `has ${fileBytes - end} bytes at its end that belong to no tensor`)
}
