import { describe, expect, it } from 'vitest'
import { DS_MLA_BYTES, decodeDsMla } from '../../../app/dump/ds-mla.ts'
import { DTYPE_BYTES, type Dtype } from '../../../app/dump/safetensors.ts'
import { decodeFloats, decodeValues } from '../../../app/dump/values.ts'

describe('values of a tensor', () => {
  it.each<[Dtype, number[], number[]]>([
    ['BF16', [0x80, 0x3f, 0x00, 0xc0, 0x80, 0xff], [1, -2, Number.NEGATIVE_INFINITY]],
    ['F16', [0x00, 0x3c, 0x01, 0x00, 0x00, 0xfc, 0xff, 0x7b], [1, 2 ** -24, Number.NEGATIVE_INFINITY, 65504]],
    ['F8_E4M3', [0x38, 0x7e, 0x01, 0xff], [1, 448, 2 ** -9, Number.NaN]],
    ['F8_E5M2', [0x3c, 0x7b, 0x01, 0xfc, 0x7f], [1, 57344, 2 ** -16, Number.NEGATIVE_INFINITY, Number.NaN]],
    ['U8', [0, 255], [0, 255]],
    ['I32', [0xff, 0xff, 0xff, 0xff], [-1]],
    ['I64', [1, 0, 0, 0, 0, 0, 0, 0], [1]],
  ])('of type %s are decoded', (dtype, bytes, values) => {
    expect([...decodeValues(Uint8Array.from(bytes), dtype)]).toEqual(values)
    expect([...decodeFloats(Uint8Array.from(bytes), dtype)]).toEqual(values)
  })

  it('are decoded from any byte of a buffer on', () => {
    const f64 = new Uint8Array([9, ...new Uint8Array(Float64Array.of(0.1).buffer)])
    expect([...decodeValues(f64.subarray(1), 'F64')]).toEqual([0.1])
    expect([...decodeValues(Uint8Array.of(9, 0x80, 0x3f).subarray(1), 'BF16')]).toEqual([1])
  })

  it('of F32 and F64 are what they were', () => {
    const floats = [0.1, -3.5e38, Number.NaN, Number.POSITIVE_INFINITY]
    const f32 = Float32Array.from(floats)
    expect([...decodeValues(new Uint8Array(f32.buffer), 'F32')]).toEqual([...f32])
    expect([...decodeValues(new Uint8Array(Float64Array.from(floats).buffer), 'F64')]).toEqual(floats)
    expect(DTYPE_BYTES.F64).toBe(8)
  })
})

describe('rows of fp8_ds_mla', () => {
  it('are 512 scaled codes and 64 bf16 values as they are', () => {
    const row = new Uint8Array(DS_MLA_BYTES)
    row.fill(0x38, 0, 512)
    row.set(new Uint8Array(Float32Array.of(0.5, 1, 2, -4).buffer), 512)
    for (let i = 0; i < 64; i++) row.set([0x40, 0x40], 528 + 2 * i)
    const values = decodeDsMla(new Uint8Array([...new Uint8Array(DS_MLA_BYTES), ...row]))
    expect(values.length).toBe(2 * 576)
    expect([...values.subarray(0, 576)].every((value) => value === 0)).toBe(true)
    expect([...values.subarray(576)]).toEqual(
      [0.5, 1, 2, -4].flatMap((scale) => Array<number>(128).fill(scale)).concat(Array(64).fill(3)),
    )
  })

  it('are whole', () => {
    expect(() => decodeDsMla(new Uint8Array(655))).toThrow('bytes must be rows of 656, got 655 bytes')
  })
})
