/**
 * Header of a `.safetensors` file: 8 bytes of little-endian length, that many bytes of JSON, then the data without
 * gaps. Written here, read by header.ts. Format: huggingface/safetensors.
 */
export const DTYPE_BYTES = {
  F64: 8,
  F32: 4,
  F16: 2,
  BF16: 2,
  F8_E4M3: 1,
  F8_E5M2: 1,
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
    super(tensor === undefined ? `${file}: ${rule}` : `${file}: tensor ${shortened(tensor)}: ${rule}`)
  }
}

/** Names and values of a file may be of any length. */
export const shortened = (text: string): string => (text.length > 60 ? `${text.slice(0, 57)}...` : text)

/** Text of a file as a message shows it. */
export const shown = (text: string): string => JSON.stringify(shortened(text))

export const shapeText = (shape: readonly number[]): string => `[${shape.join(', ')}]`

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
