import { describe, expect, it } from 'vitest'
import { TensorReader } from '../../../app/dump/reader.ts'
import { blobSource, memorySource } from '../../../app/dump/source.ts'
import { dumpBytes, type Tensors } from './dump-file.ts'

const TENSORS: Tensors = {
  out: { shape: [3, 2, 2], values: Array.from({ length: 12 }, (_, i) => i) },
  kv: { shape: [2, 2, 3], dtype: 'F8_E4M3', values: Array<number>(12).fill(0x38) },
  kv_scale: { shape: [1], values: [0.5] },
}

describe.each([
  ['memory', (bytes: Uint8Array<ArrayBuffer>) => memorySource('x', bytes)],
  ['a blob, as the window has it', (bytes: Uint8Array<ArrayBuffer>) => blobSource('x', new Blob([bytes]))],
])('a reader of %s', (_, source) => {
  const reader = (tensors = TENSORS): Promise<TensorReader> => TensorReader.open(source(dumpBytes(tensors)))

  it('reads what is asked for, as float64 or float32', async () => {
    const file = await reader()
    expect([...(await file.values('out', 4, 3))]).toEqual([4, 5, 6])
    expect([...(await file.floats('out', 10))]).toEqual([10, 11])
    expect((await file.values('out')).length).toBe(12)
    await expect(async () => file.values('out', 11, 2)).rejects.toThrow(
      'elements 11 to 13 are outside of out [3, 2, 2]',
    )
    await expect(async () => file.values('q')).rejects.toThrow('x: tensor q: is missing')
  })

  it('reads all rows in blocks of a bounded size', async () => {
    const blocks: [number, number, number[]][] = []
    for await (const { from, rows, values } of (await reader()).blocks('out', 9))
      blocks.push([from, rows, [...values]])
    expect(blocks).toEqual([
      [0, 2, [0, 1, 2, 3, 4, 5, 6, 7]],
      [2, 1, [8, 9, 10, 11]],
    ])
  })

  it('reads keys with their scale', async () => {
    const file = await reader()
    expect(file.tokenWidth('kv')).toBe(3)
    expect([...(await file.tokens('kv', 1, 2))]).toEqual(Array(6).fill(0.5))
  })

  it('reads keys of 656 bytes as 576 values', async () => {
    const bytes = Array<number>(4 * 656).fill(0)
    const file = await reader({ kv: { shape: [2, 2, 656], dtype: 'U8', values: bytes } })
    expect(file.tokenWidth('kv')).toBe(576)
    expect((await file.tokens('kv', 2, 1)).length).toBe(576)
  })
})
