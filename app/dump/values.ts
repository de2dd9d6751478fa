import { DTYPE_BYTES, type Dtype } from './safetensors.ts'

/** Elements of little-endian bytes of a floating-point or integer type, each exactly as a float64 (I64 up to 2^53). */
export const decodeValues = (
  bytes: Uint8Array,
  dtype: Dtype,
  into = new Float64Array(Math.floor(bytes.byteLength / DTYPE_BYTES[dtype])),
): Float64Array<ArrayBuffer> => decodeInto(into, bytes, dtype)

/** The same rounded to float32: exact for every type of at most 16 bits, and for F32. */
export const decodeFloats = (bytes: Uint8Array, dtype: Dtype): Float32Array<ArrayBuffer> =>
  decodeInto(new Float32Array(Math.floor(bytes.byteLength / DTYPE_BYTES[dtype])), bytes, dtype)

const decodeInto = <T extends Float64Array<ArrayBuffer> | Float32Array<ArrayBuffer>>(
  values: T,
  bytes: Uint8Array,
  dtype: Dtype,
): T => {
  if (isCoded(dtype)) {
    const table = CODED[dtype]()
    if (DTYPE_BYTES[dtype] === 1)
      for (let i = 0; i < values.length; i++) values[i] = table[bytes[i] ?? 0] ?? 0
    else
      for (let i = 0; i < values.length; i++)
        values[i] = table[(bytes[2 * i] ?? 0) | ((bytes[2 * i + 1] ?? 0) << 8)] ?? 0
    return values
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const read = READERS[dtype]
  const width = DTYPE_BYTES[dtype]
  for (let i = 0; i < values.length; i++) values[i] = read(view, i * width)
  return values
}

const scratch = new DataView(new ArrayBuffer(4))

/** bfloat16 is the upper half of a float32. */
const bf16 = (bits: number): number => {
  scratch.setUint32(0, bits << 16)
  return scratch.getFloat32(0)
}

const f16 = (bits: number): number => {
  const sign = bits & 0x8000 ? -1 : 1
  const exponent = (bits >> 10) & 0x1f
  const fraction = bits & 0x3ff
  if (exponent === 0x1f) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1 + fraction / 1024) * 2 ** (exponent - 15)
}

/** OCP e4m3fn: no infinities, NaN is all ones. */
const e4m3 = (bits: number): number => {
  const sign = bits & 0x80 ? -1 : 1
  const exponent = (bits >> 3) & 0xf
  const fraction = bits & 7
  if (exponent === 0xf && fraction === 7) return Number.NaN
  return exponent === 0 ? sign * fraction * 2 ** -9 : sign * (1 + fraction / 8) * 2 ** (exponent - 7)
}

/** OCP e5m2 is the upper half of a float16. */
const e5m2 = (bits: number): number => f16(bits << 8)

/** The values of all codes of a type, made when first asked for. */
const tableOf = (codes: number, value: (bits: number) => number): (() => Float64Array) => {
  let table: Float64Array | undefined
  return () => {
    table ??= Float64Array.from({ length: codes }, (_, bits) => value(bits))
    return table
  }
}

/** Types of at most 16 bits, by table. */
const CODED = {
  F16: tableOf(2 ** 16, f16),
  BF16: tableOf(2 ** 16, bf16),
  F8_E4M3: tableOf(2 ** 8, e4m3),
  F8_E5M2: tableOf(2 ** 8, e5m2),
  U8: tableOf(2 ** 8, (bits) => bits),
} as const
type Coded = keyof typeof CODED
const isCoded = (dtype: Dtype): dtype is Coded => Object.hasOwn(CODED, dtype)

const READERS: Readonly<Record<Exclude<Dtype, Coded>, (view: DataView, at: number) => number>> = {
  F64: (view, at) => view.getFloat64(at, true),
  F32: (view, at) => view.getFloat32(at, true),
  I64: (view, at) => Number(view.getBigInt64(at, true)),
  I32: (view, at) => view.getInt32(at, true),
}
