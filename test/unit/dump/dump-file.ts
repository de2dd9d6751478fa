import { DTYPE_BYTES, type Dtype, elementCount, encodeHeader } from '../../../app/dump/safetensors.ts'
import { DUMP_FORMAT } from '../../../app/dump/schema.ts'
import { type ByteSource, memorySource } from '../../../app/dump/source.ts'

/** A tensor by its shape, and its values where they matter (zeros elsewhere). */
export interface Given {
  readonly shape: readonly number[]
  readonly dtype?: Dtype
  readonly values?: readonly number[] | undefined
}

export type Tensors = Readonly<Record<string, Given>>

/** Bytes of a dump file with the required metadata, rank 0 of 2 at step 3, layer 0 unless said otherwise. */
export const dumpBytes = (
  tensors: Tensors,
  metadata: Readonly<Record<string, string>> = {},
): Uint8Array<ArrayBuffer> => {
  const specs = Object.entries(tensors).map(([name, { shape, dtype = 'F32', values }]) => ({
    name,
    shape,
    dtype,
    values,
  }))
  const header = encodeHeader(specs, {
    format: DUMP_FORMAT,
    rank: '0',
    dcp_size: '2',
    step: '3',
    layer: '0',
    ...metadata,
  })
  return new Uint8Array(Buffer.concat([header, ...specs.map(dataOf)]))
}

const dataOf = ({ dtype, shape, values }: Given & { readonly dtype: Dtype }): Uint8Array => {
  const count = elementCount(shape)
  const given = values ?? Array<number>(count).fill(0)
  if (given.length !== count) throw new Error(`${count} values are needed, got ${given.length}`)
  switch (dtype) {
    case 'F64':
      return new Uint8Array(Float64Array.from(given).buffer)
    case 'F32':
      return new Uint8Array(Float32Array.from(given).buffer)
    case 'I32':
      return new Uint8Array(Int32Array.from(given).buffer)
    case 'I64':
      return new Uint8Array(BigInt64Array.from(given, BigInt).buffer)
    case 'BF16': {
      const halves = new Uint16Array(Float32Array.from(given).buffer).filter((_, i) => i % 2 === 1)
      return new Uint8Array(halves.buffer)
    }
    default: {
      // Codes, for types that JavaScript does not have.
      const bytes = new Uint8Array(count * DTYPE_BYTES[dtype])
      if (DTYPE_BYTES[dtype] === 1) bytes.set(given)
      else new Uint16Array(bytes.buffer).set(given)
      return bytes
    }
  }
}

export const dumpSource = (
  name: string,
  tensors: Tensors,
  metadata?: Readonly<Record<string, string>>,
): ByteSource => memorySource(name, dumpBytes(tensors, metadata))

/** Integers of the type that engines use for lengths and tables. */
export const ints = (values: readonly number[], shape: readonly number[] = [values.length]): Given => ({
  shape,
  dtype: 'I32',
  values,
})
