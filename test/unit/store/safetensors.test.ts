import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DUMP_FORMAT, dumpInfo } from '../../../app/dump/dump.ts'
import {
  DTYPE_BYTES,
  type Dtype,
  encodeHeader,
  headerLength,
  PREFIX_BYTES,
  parseHeader,
  type TensorHeader,
  type TensorSpec,
  tensorBytes,
} from '../../../app/dump/safetensors.ts'
import { decodeValues } from '../../../app/dump/values.ts'

const FILE = 'dump.safetensors'

const read = (bytes: Uint8Array, fileBytes: number): TensorHeader => {
  const length = headerLength(bytes.subarray(0, PREFIX_BYTES), fileBytes, FILE)
  const json = new TextDecoder().decode(bytes.subarray(PREFIX_BYTES, PREFIX_BYTES + length))
  return parseHeader(json, PREFIX_BYTES + length, fileBytes, FILE)
}

const readJson = (header: unknown, fileBytes = 1000): TensorHeader =>
  parseHeader(JSON.stringify(header), 100, fileBytes, FILE)

const specArb: fc.Arbitrary<TensorSpec> = fc.record({
  name: fc.string({ minLength: 1 }).filter((name) => name !== '__metadata__' && name !== '__proto__'),
  dtype: fc.constantFrom<Dtype>('F64', 'F32', 'F16', 'BF16', 'F8_E4M3', 'I64', 'I32', 'U8'),
  shape: fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 4 }),
})

describe('the header of a tensor file', () => {
  it('is read as it was written, any names and texts', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(specArb, { selector: (s) => s.name }),
        fc.dictionary(
          fc.string().filter((k) => k !== '__proto__'),
          fc.string({ unit: 'grapheme' }),
        ),
        (specs, metadata) => {
          const bytes = encodeHeader(specs, metadata)
          const data = specs.reduce((sum, spec) => sum + tensorBytes(spec), 0)
          const header = read(bytes, bytes.length + data)
          expect(bytes.length % 8).toBe(0)
          expect(Object.fromEntries(header.metadata)).toEqual({ ...metadata })
          let at = bytes.length
          for (const spec of specs) {
            expect(header.tensors.get(spec.name)).toEqual({ ...spec, start: at, end: at + tensorBytes(spec) })
            at += tensorBytes(spec)
          }
        },
      ),
    )
  })

  const entry = (dtype: unknown, shape: unknown, offsets: unknown) => ({
    dtype,
    shape,
    data_offsets: offsets,
  })

  it.each([
    [{ a: entry('F4', [1], [0, 1]) }, `${FILE}: tensor a: has the unknown type "F4"; known are F64, F32,`],
    [{ a: entry('F32', [-1], [0, 4]) }, `${FILE}: tensor a: shape must be a list of sizes`],
    [{ a: entry('F32', [2], [0, 4]) }, `${FILE}: tensor a: [2] of F32 takes 8 bytes, data_offsets give 4`],
    [
      { a: entry('U8', [901], [0, 901]) },
      `${FILE}: tensor a: is truncated: it ends at byte 1001, the file has 1000`,
    ],
    [{ a: entry('U8', [8], [0, 8]), b: entry('U8', [8], [7, 15]) }, `${FILE}: tensor b: overlaps tensor a`],
    [{ a: entry('U8', [8], [0]) }, `${FILE}: tensor a: data_offsets must be two positions`],
    [{ a: 5 }, `${FILE}: tensor a: must be an object`],
    [{ __metadata__: { rank: 1 } }, `${FILE}: __metadata__.rank must be a string`],
    [[], `${FILE}: has a header that is not a JSON object`],
  ])('is refused with file, tensor and rule: %j', (header, sentence) => {
    expect(() => readJson(header)).toThrow(sentence)
  })

  it('is refused when the file ends before it, or when it is far too long', () => {
    const bytes = encodeHeader([{ name: 'a', dtype: 'U8', shape: [1] }], {})
    expect(() => read(bytes, bytes.length - 1)).toThrow(`${FILE}: is truncated: the header needs`)
    expect(() => headerLength(new Uint8Array(3), 3, FILE)).toThrow(
      'is truncated: 3 bytes are less than a header',
    )
    const huge = new Uint8Array(8).fill(0xff)
    expect(() => headerLength(huge, 1e9, FILE)).toThrow('more than 104857600')
    expect(() => parseHeader('{', 8, 9, FILE)).toThrow('has a header that is not JSON')
  })
})

describe('a dump', () => {
  const required = { format: DUMP_FORMAT, rank: '1', dcp_size: '2', step: '3', layer: '0' }
  const dump = (
    metadata: Record<string, string>,
    shapes: Record<string, readonly number[]> = {},
  ): ReturnType<typeof dumpInfo> => {
    const specs = Object.entries(shapes).map(([name, shape]) => ({ name, dtype: 'F32' as const, shape }))
    const bytes = encodeHeader(specs, metadata)
    return dumpInfo(read(bytes, bytes.length + specs.reduce((sum, s) => sum + tensorBytes(s), 0)), FILE)
  }

  it('says what its metadata says, with defaults', () => {
    expect(dump({ ...required, lse_base: '2', softmax_scale: '0.05' })).toMatchObject({
      rank: 1,
      dcpSize: 2,
      step: 3,
      layer: 0,
      interleave: 1,
      qLen: 1,
      lseBase: '2',
      softmaxScale: 0.05,
      numHeads: undefined,
    })
    expect(dump({ ...required, rank: 'reference' }).rank).toBe('reference')
  })

  it.each([
    [{ ...required, format: 'other' }, '__metadata__.format must be dcpscope-dump/1, got "other"'],
    [{ format: DUMP_FORMAT }, '__metadata__.rank is missing'],
    [{ ...required, rank: '2' }, '__metadata__.rank must be below dcp_size (2), got 2'],
    [{ ...required, step: '-1' }, '__metadata__.step must be a whole number of at least 0, got "-1"'],
    [{ ...required, lse_base: '10' }, '__metadata__.lse_base must be e or 2, got "10"'],
    [
      { ...required, softmax_scale: 'big' },
      '__metadata__.softmax_scale must be a positive number, got "big"',
    ],
  ])('is refused for its metadata: %j', (metadata, sentence) => {
    expect(() => dump(metadata)).toThrow(`${FILE}: ${sentence}`)
  })

  it.each([
    [{ out: [4, 8, 16], lse: [4, 7] }, 'tensor lse: has H = 7 in [4, 7], but tensor out says 8'],
    [{ out: [4, 8, 16], slot_mapping: [5] }, 'tensor slot_mapping: has T = 5 in [5], but tensor out says 4'],
    [{ out: [4, 8] }, 'tensor out: must have 3 dimensions, has [4, 8]'],
    [{ out: [4, 8, 16], merged: [4, 3, 16] }, 'tensor merged: must hold 4 or 8 heads, has [4, 3, 16]'],
    [{ kv: [2, 16, 576], page_ids: [3] }, 'tensor page_ids: has pages = 3 in [3], but tensor kv says 2'],
    [{ kv_scale: [2] }, 'tensor kv_scale: must be [1], has [2]'],
  ])('is refused for shapes that contradict each other: %j', (shapes, sentence) => {
    expect(() => dump(required, shapes)).toThrow(`${FILE}: ${sentence}`)
  })

  it('is accepted with the head slice or all heads merged', () => {
    expect(dump(required, { out: [4, 8, 16], merged: [4, 4, 16] }).rank).toBe(1)
    expect(dump(required, { out: [4, 8, 16], merged: [4, 8, 16] }).rank).toBe(1)
  })
})

describe('values of a tensor', () => {
  it.each<[Dtype, number[], number[]]>([
    ['BF16', [0x80, 0x3f, 0x00, 0xc0, 0x80, 0xff], [1, -2, Number.NEGATIVE_INFINITY]],
    ['F16', [0x00, 0x3c, 0x01, 0x00, 0x00, 0xfc, 0xff, 0x7b], [1, 2 ** -24, Number.NEGATIVE_INFINITY, 65504]],
    ['F8_E4M3', [0x38, 0x7e, 0x01, 0xff], [1, 448, 2 ** -9, Number.NaN]],
    ['U8', [0, 255], [0, 255]],
    ['I32', [0xff, 0xff, 0xff, 0xff], [-1]],
    ['I64', [1, 0, 0, 0, 0, 0, 0, 0], [1]],
  ])('of type %s are decoded', (dtype, bytes, values) => {
    expect([...decodeValues(Uint8Array.from(bytes), dtype)]).toEqual(values)
  })

  it('of F32 and F64 are what they were', () => {
    const floats = [0.1, -3.5e38, Number.NaN, Number.POSITIVE_INFINITY]
    const f32 = Float32Array.from(floats)
    expect([...decodeValues(new Uint8Array(f32.buffer), 'F32')]).toEqual([...f32])
    expect([...decodeValues(new Uint8Array(Float64Array.from(floats).buffer), 'F64')]).toEqual(floats)
    expect(DTYPE_BYTES.F64).toBe(8)
  })
})
