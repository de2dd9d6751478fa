import { closeSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { TraceMessage } from '../../app/protocol/engine.ts'
import { makeFolder, temporaryName } from './bundle-files.ts'
import { StoreProblem } from './problem.ts'

type FileMessage = Extract<TraceMessage, { type: 'file' }>

interface OpenFile {
  readonly handle: number
  readonly temporary: string
  written: number
}

/** Puts captured tensor files together from their pieces; a file gets its name with the last piece. */
export class TensorWriter {
  readonly #bundle: string
  readonly #open = new Map<string, OpenFile>()

  constructor(bundle: string) {
    this.#bundle = bundle
  }

  piece({ file, offset, data, last }: FileMessage): void {
    const open = this.#open.get(file) ?? this.#begin(file)
    if (offset !== open.written)
      throw new StoreProblem(`a piece of ${file} is at ${offset} instead of ${open.written}`)
    for (let done = 0; done < data.byteLength; )
      done += writeSync(open.handle, data, done, data.byteLength - done)
    open.written += data.byteLength
    if (!last) return
    this.#open.delete(file)
    closeSync(open.handle)
    renameSync(open.temporary, join(this.#bundle, file))
  }

  #begin(file: string): OpenFile {
    const path = join(this.#bundle, file)
    makeFolder(this.#bundle, dirname(path))
    const temporary = join(dirname(path), temporaryName(basename(path)))
    const open = { handle: openSync(temporary, 'w'), temporary, written: 0 }
    this.#open.set(file, open)
    return open
  }

  /** Removes files whose last piece never came; returns their names. */
  abandon(): string[] {
    const names = [...this.#open.keys()]
    for (const { handle, temporary } of this.#open.values()) {
      closeSync(handle)
      rmSync(temporary, { force: true })
    }
    this.#open.clear()
    return names
  }
}
