/**
 * The bytes of one file, read as they are asked for: a file on disk in main, a Blob in the renderer, memory in tests.
 * Nothing here or above holds a whole file.
 */
export interface ByteSource {
  /** What messages call the file. */
  readonly name: string
  /** Bytes. */
  readonly size: number
  /** Exactly `length` bytes from byte `from` on; rejects when they cannot be had. */
  read(from: number, length: number): Promise<Uint8Array>
  /** Gives back what reading holds; reading on takes it again. */
  close(): Promise<void>
}

export const memorySource = (name: string, bytes: Uint8Array): ByteSource => ({
  name,
  size: bytes.byteLength,
  read: async (from, length) => bytes.slice(from, from + length),
  close: async () => {},
})

/** A file of the window: dropped there, or chosen. */
export const blobSource = (name: string, blob: BlobLike): ByteSource => ({
  name,
  size: blob.size,
  read: async (from, length) => {
    const bytes = new Uint8Array(await blob.slice(from, from + length).arrayBuffer())
    if (bytes.byteLength !== length) throw new Error(`the file ends at byte ${from + bytes.byteLength}`)
    return bytes
  },
  close: async () => {},
})

/** What is needed of a Blob, whose type this room does not have. */
export interface BlobLike {
  readonly size: number
  slice(from: number, to: number): { arrayBuffer(): Promise<ArrayBuffer> }
}
