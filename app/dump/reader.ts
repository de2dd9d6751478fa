import { DS_MLA_BYTES, DS_MLA_VALUES, decodeDsMla } from './ds-mla.ts'
import { headerLength, parseHeader } from './header.ts'
import {
  DTYPE_BYTES,
  DumpError,
  elementCount,
  PREFIX_BYTES,
  shapeText,
  type TensorEntry,
  type TensorHeader,
} from './safetensors.ts'
import type { ByteSource } from './source.ts'
import { utf8Text } from './utf8.ts'
import { decodeFloats, decodeValues } from './values.ts'

/** Values that `blocks` reads at once. */
const BLOCK_VALUES = 1 << 18

/** Some rows of a tensor, from row `from` on, row major. */
export interface Block {
  readonly from: number
  readonly rows: number
  readonly values: Float64Array<ArrayBuffer>
}

/** A `.safetensors` file of which only the bytes that are asked for are read. */
export class TensorReader {
  readonly header: TensorHeader
  readonly source: ByteSource

  private constructor(header: TensorHeader, source: ByteSource) {
    this.header = header
    this.source = source
  }

  /** Rejects with DumpError for a file that is not valid, and as the source does. */
  static async open(source: ByteSource): Promise<TensorReader> {
    const { name, size } = source
    const prefix = await source.read(0, Math.min(PREFIX_BYTES, size))
    const length = headerLength(prefix, size, name)
    const json = utf8Text(await source.read(PREFIX_BYTES, length))
    if (json === undefined) throw new DumpError(name, undefined, 'has a header that is not UTF-8 text')
    return new TensorReader(parseHeader(json, PREFIX_BYTES + length, size, name), source)
  }

  get file(): string {
    return this.source.name
  }

  tensor(name: string): TensorEntry {
    const entry = this.header.tensors.get(name)
    if (entry === undefined) throw new DumpError(this.file, name, 'is missing')
    return entry
  }

  has(name: string): boolean {
    return this.header.tensors.has(name)
  }

  /** `count` elements from element `from` on, row major. */
  async values(name: string, from = 0, count?: number): Promise<Float64Array<ArrayBuffer>> {
    return decodeValues(await this.#bytes(name, from, count), this.tensor(name).dtype)
  }

  /** The same as float32: exact for every type of a dump but I32, I64 and F64. */
  async floats(name: string, from = 0, count?: number): Promise<Float32Array<ArrayBuffer>> {
    return decodeFloats(await this.#bytes(name, from, count), this.tensor(name).dtype)
  }

  /**
   * Keys of `kv`, `kv_k` or `kv_v` as values: `tokens` of them from token `from` of the dump on, in the order of its pages
   * ([pages * P, ..]). Codes are scaled as `kv_scale` says, rows of 656 bytes are decoded to 576 values. They are written to `into`
   * where that is given and rows are not of bytes.
   */
  async tokens(
    name: string,
    from: number,
    tokens: number,
    into?: Float64Array<ArrayBuffer>,
  ): Promise<Float64Array<ArrayBuffer>> {
    const { dtype, shape } = this.tensor(name)
    const width = elementCount(shape.slice(2))
    const bytes = await this.#bytes(name, from * width, tokens * width)
    if (dtype === 'U8') return decodeDsMla(bytes)
    const values = decodeValues(bytes, dtype, into)
    const scale = this.has('kv_scale') ? ((await this.values('kv_scale'))[0] ?? 1) : 1
    if (scale !== 1) for (let i = 0; i < values.length; i++) values[i] = (values[i] ?? 0) * scale
    return values
  }

  /** Values of one token as `tokens` gives them. */
  tokenWidth(name: string): number {
    const { dtype, shape } = this.tensor(name)
    return dtype === 'U8' && shape[2] === DS_MLA_BYTES ? DS_MLA_VALUES : elementCount(shape.slice(2))
  }

  /** All rows (of the first dimension) in order, a bounded number of values at a time. */
  async *blocks(name: string, blockValues = BLOCK_VALUES): AsyncGenerator<Block> {
    const [total = 1, ...rest] = this.tensor(name).shape
    const width = elementCount(rest)
    const rows = Math.max(1, Math.floor(blockValues / Math.max(1, width)))
    for (let from = 0; from < total; from += rows) {
      const taken = Math.min(rows, total - from)
      yield { from, rows: taken, values: await this.values(name, from * width, taken * width) }
    }
  }

  close(): Promise<void> {
    return this.source.close()
  }

  #bytes(name: string, from: number, count: number | undefined): Promise<Uint8Array> {
    const { dtype, shape, start } = this.tensor(name)
    const all = elementCount(shape)
    const wanted = count ?? all - from
    if (!(from >= 0 && wanted >= 0 && from + wanted <= all))
      throw new RangeError(`elements ${from} to ${from + wanted} are outside of ${name} ${shapeText(shape)}`)
    const width = DTYPE_BYTES[dtype]
    return this.source.read(start + from * width, wanted * width)
  }
}
