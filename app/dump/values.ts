import { DTYPE_BYTES, type Dtype } from './safetensors.ts'

/** Elements of little-endian bytes of a floating-point or integer type, each exactly as a float64. */
export const decodeValues = (bytes: Uint8Array, dtype: Dtype): Float64Array<ArrayBuffer> => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const read = READERS[dtype]
  const width = DTYPE_BYTES[dtype]
  const values = new Float64Array(Math.floor(bytes.byteLength / width))
  for (let i = 0; i < values.length; i++) values[i] = read(view, i * width)
  return values
}

const scratch = new DataView(new ArrayBuffer(4))

/** bfloat16 is the upper half of a float32. */
const bf16 = (view: DataView, at: number): number => {
  scratch.setUint16(0, view.getUint16(at, true))
  scratch.setUint16(2, 0)
  return scratch.getFloat32(0)
}

const f16 = (view: DataView, at: number): number => {
  const bits = view.getUint16(at, true)
  const sign = bits & 0x8000 ? -1 : 1
  const exponent = (bits >> 10) & 0x1f
  const fraction = bits & 0x3ff
  if (exponent === 0x1f) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1 + fraction / 1024) * 2 ** (exponent - 15)
}

/** OCP e4m3fn: no infinities, NaN is all ones. */
const e4m3 = (view: DataView, at: number): number => {
  const bits = view.getUint8(at)
  const sign = bits & 0x80 ? -1 : 1
  const exponent = (bits >> 3) & 0xf
  const fraction = bits & 7
  if (exponent === 0xf && fraction === 7) return Number.NaN
  return exponent === 0 ? sign * fraction * 2 ** -9 : sign * (1 + fraction / 8) * 2 ** (exponent - 7)
}

const READERS: Readonly<Record<Dtype, (view: DataView, at: number) => number>> = {
  F64: (view, at) => view.getFloat64(at, true),
  F32: (view, at) => view.getFloat32(at, true),
  F16: f16,
  BF16: bf16,
  F8_E4M3: e4m3,
  I64: (view, at) => Number(view.getBigInt64(at, true)),
  I32: (view, at) => view.getInt32(at, true),
  U8: (view, at) => view.getUint8(at),
}
