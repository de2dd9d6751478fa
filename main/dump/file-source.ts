import { type FileHandle, open, stat } from 'node:fs/promises'
import { DumpError } from '../../app/dump/safetensors.ts'
import type { ByteSource } from '../../app/dump/source.ts'

/** A file on disk that messages call `name`, open from the first read until `close`. Rejects with DumpError for what is no file, else with the system's error. */
export const fileSource = async (path: string, name = path): Promise<ByteSource> => {
  // Before it is opened, which would wait for ever for the writer of a pipe.
  const stats = await stat(path)
  if (!stats.isFile()) throw new DumpError(name, undefined, 'is not a file')
  let opened: Promise<FileHandle> | undefined
  const handle = (): Promise<FileHandle> => {
    opened ??= open(path, 'r')
    return opened
  }
  return {
    name,
    size: stats.size,
    read: async (from, length) => readBytes(await handle(), from, length),
    close: async () => {
      const closing = opened
      opened = undefined
      await closing?.then(
        (file) => file.close(),
        () => {},
      )
    },
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
