import { type FileHandle, open, stat } from 'node:fs/promises'
import {
  DTYPE_BYTES,
  DumpError,
  elementCount,
  headerLength,
  PREFIX_BYTES,
  parseHeader,
  type TensorEntry,
  type TensorHeader,
} from '../../app/dump/safetensors.ts'
import { decodeValues } from '../../app/dump/values.ts'

/** A `.safetensors` file of which only the bytes that are asked for are read. */
export class TensorFile {
  readonly header: TensorHeader
  readonly #file: FileHandle
  readonly #path: string

  private constructor(header: TensorHeader, file: FileHandle, path: string) {
    this.header = header
    this.#file = file
    this.#path = path
  }

  /** Rejects with DumpError for a file that is not valid, with the system's error for one that cannot be opened. */
  static async open(path: string): Promise<TensorFile> {
    // Before it is opened, which would wait for ever for the writer of a pipe.
    if (!(await stat(path)).isFile()) throw new DumpError(path, undefined, 'is not a file')
    const file = await open(path, 'r')
    try {
      const { size } = await file.stat()
      const prefix = await readBytes(file, 0, Math.min(PREFIX_BYTES, size))
      const length = headerLength(prefix, size, path)
      const json = new TextDecoder().decode(await readBytes(file, PREFIX_BYTES, length))
      return new TensorFile(parseHeader(json, PREFIX_BYTES + length, size, path), file, path)
    } catch (error) {
      await file.close()
      throw error
    }
  }

  tensor(name: string): TensorEntry {
    const entry = this.header.tensors.get(name)
    if (entry === undefined) throw new DumpError(this.#path, name, 'is missing')
    return entry
  }

  has(name: string): boolean {
    return this.header.tensors.has(name)
  }

  /** `count` elements from element `from` on, row major. */
  async values(name: string, from = 0, count?: number): Promise<Float64Array<ArrayBuffer>> {
    const entry = this.tensor(name)
    const width = DTYPE_BYTES[entry.dtype]
    const wanted = count ?? elementCount(entry.shape)
    if (from < 0 || entry.start + (from + wanted) * width > entry.end)
      throw new RangeError(`elements ${from} to ${from + wanted} are outside of ${name}`)
    return decodeValues(await readBytes(this.#file, entry.start + from * width, wanted * width), entry.dtype)
  }

  close(): Promise<void> {
    return this.#file.close()
  }
}

const readBytes = async (file: FileHandle, from: number, length: number): Promise<Uint8Array> => {
  const bytes = new Uint8Array(length)
  for (let done = 0; done < length; ) {
    const { bytesRead } = await file.read(bytes, done, length - done, from + done)
    if (bytesRead === 0) throw new Error(`the file ends at byte ${from + done}`)
    done += bytesRead
  }
  return bytes
}
