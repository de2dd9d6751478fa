import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { headerLength, parseHeader } from '../../../app/dump/header.ts'
import {
  type Dtype,
  encodeHeader,
  PREFIX_BYTES,
  type TensorHeader,
  type TensorSpec,
  tensorBytes,
} from '../../../app/dump/safetensors.ts'

const FILE = 'dump.safetensors'

const read = (bytes: Uint8Array, fileBytes: number): TensorHeader => {
  const length = headerLength(bytes.subarray(0, PREFIX_BYTES), fileBytes, FILE)
  const json = new TextDecoder().decode(bytes.subarray(PREFIX_BYTES, PREFIX_BYTES + length))
  return parseHeader(json, PREFIX_BYTES + length, fileBytes, FILE)
}

const readJson = (header: unknown, fileBytes = 1000): TensorHeader =>
  parseHeader(typeof header === 'string' ? header : JSON.stringify(header), 100, fileBytes, FILE)

const specArb: fc.Arbitrary<TensorSpec> = fc.record({
  name: fc.string({ minLength: 1 }).filter((name) => name !== '__metadata__' && name !== '__proto__'),
  dtype: fc.constantFrom<Dtype>('F64', 'F32', 'F16', 'BF16', 'F8_E4M3', 'F8_E5M2', 'I64', 'I32', 'U8'),
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
    [{ a: entry(['F32'], [1], [0, 1]) }, `${FILE}: tensor a: has a type that is not text`],
    [{ a: entry('F32', [-1], [0, 4]) }, `${FILE}: tensor a: shape must be a list of sizes`],
    [
      { a: entry('U8', Array(17).fill(1), [0, 1]) },
      `${FILE}: has a list of more than 16 numbers in its header`,
    ],
    [{ a: entry('U8', [2 ** 50, 2 ** 50], [0, 8]) }, 'data_offsets give 8'],
    [{ a: entry('U8', [8], [8, 0]) }, 'data_offsets give -8'],
    [{ a: entry('U8', [900], [0, 900]), b: entry('U8', [8], [1e15, 1e15 + 8]) }, 'tensor b: is truncated'],
    [
      { a: entry('U8', [8], [4, 12]) },
      `${FILE}: tensor a: begins 4 bytes after the header: bytes must not be left out`,
    ],
    [
      { a: entry('U8', [8], [0, 8]), b: entry('U8', [8], [12, 20]) },
      `${FILE}: tensor b: begins 4 bytes after tensor a: bytes must not be left out`,
    ],
    [{ a: entry('U8', [8], [0, 8]) }, `${FILE}: has 892 bytes at its end that belong to no tensor`],
    [
      '{"a": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]}, "\\u0061": {"dtype": "U8"}}',
      `${FILE}: has "a" twice in its header`,
    ],
    ['{"a": {"dtype": "U8", "dtype": "I32", "shape": [900]}}', 'has "dtype" twice in its header'],
    ['{"__metadata__": {"rank": "0", "rank": "1"}}', 'has "rank" twice in its header'],
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

  it('is refused in a short line, however long a name is', () => {
    const long = 'a'.repeat(1_000_000)
    expect(() => readJson({ [long]: 1 })).toThrow(`${FILE}: tensor ${'a'.repeat(57)}...: must be an object`)
    expect(() => readJson({ a: entry(long, [1], [0, 1]) })).toThrow(/has the unknown type "a{57}\.\.\.";/)
    expect(() => readJson(`{"${long}": 1, "${long}": 1}`)).toThrow(/: has "a{57}\.\.\." twice in its header$/)
  })

  it.each([
    ['brackets', `{"a": ${'['.repeat(20e6)}`, 'has a header that is nested too deeply'],
    ['numbers', `{"a": [${'0,'.repeat(10e6)}`, 'has a list of more than 16 numbers in its header'],
    [
      'names',
      `{${Array.from({ length: 2e6 }, (_, i) => `"${i}":`).join()}`,
      'has more than 10000 names in its header',
    ],
    ['escapes', `{"a": "${'\\\\'.repeat(10e6)}"}`, 'tensor a: must be an object'],
    ['an open string', `{"a": "${'x'.repeat(20e6)}`, 'has a header that is not JSON'],
  ])('of 20 million %s is refused before it takes more memory than itself', (_, json, sentence) => {
    const before = process.memoryUsage().heapUsed
    expect(() => readJson(json)).toThrow(`${FILE}: ${sentence}`)
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(100 * 2 ** 20)
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
