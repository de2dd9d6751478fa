import { rmSync } from 'node:fs'
import type { TraceMessage } from '../../app/protocol/engine.ts'
import type { Progress } from '../../app/protocol/store.ts'
import type { Manifest, RunStatus } from '../../app/trace/manifest.ts'
import type { TraceChunk } from '../../app/trace/tables.ts'
import { beginProblem, prepareFolder, reserveFile, writeBegin } from './bundle-beginning.ts'
import { checkChunk } from './chunk-check.ts'
import { openDuck, withConnection } from './duck.ts'
import { LiveProgress } from './live-progress.ts'
import { ownWriter, writeManifest } from './manifest-file.ts'
import { PartWriter } from './part-writer.ts'
import { isMissing, type StoreProblem, writeProblem } from './problem.ts'
import { summarise } from './summary.ts'
import { TensorWriter } from './tensor-writer.ts'

/** Time between flushes: what a killed process loses at most, and how old a live view is. */
const FLUSH_MS = 1000
/** Bytes of chunks in memory above which the next chunk waits for a flush. */
const MAX_BUFFERED_BYTES = 64 << 20

type EndMessage = Omit<Extract<TraceMessage, { type: 'end' }>, 'type' | 'runId'>
type FileMessage = Extract<TraceMessage, { type: 'file' }>

/** Writes the bundle of one run from its first chunk to its end. */
export class BundleWriter {
  readonly id: string
  readonly bundle: string
  readonly #parts: PartWriter
  readonly #tensors: TensorWriter
  readonly #progress: LiveProgress
  readonly #onFailed: (problem: string) => void
  #manifest: Manifest
  #timer: NodeJS.Timeout | undefined
  /** Set with the first step of an end; later ones wait for it. */
  #ending: Promise<void> | undefined

  private constructor(
    id: string,
    bundle: string,
    manifest: Manifest,
    parts: PartWriter,
    onFailed: (problem: string) => void,
  ) {
    this.id = id
    this.bundle = bundle
    this.#manifest = manifest
    this.#parts = parts
    this.#tensors = new TensorWriter(bundle)
    this.#progress = new LiveProgress(id, manifest)
    this.#onFailed = onFailed
    this.#arm()
  }

  /**
   * Creates the bundle, whose folder must be new or empty. `onFailed` is called at most once, when writing
   * fails between calls or in one. Rejects with StoreProblem when nothing could be begun.
   */
  static async begin(
    id: string,
    bundle: string,
    manifest: Manifest,
    onFailed: (problem: string) => void,
  ): Promise<BundleWriter> {
    const running: Manifest = { ...manifest, status: 'running', writer: ownWriter() }
    // First, so that no wait lies between the manifest on disk and the writer that stands behind it.
    const parts = await PartWriter.open(bundle)
    try {
      prepareFolder(bundle)
      writeBegin(bundle, running)
    } catch (error) {
      await parts.close()
      throw beginProblem(error, bundle)
    }
    return new BundleWriter(id, bundle, running, parts, onFailed)
  }

  get manifest(): Manifest {
    return this.#manifest
  }

  get progress(): Progress {
    return this.#progress.now(this.#manifest)
  }

  /** Takes a chunk; resolves when the next may come. A failure ends the run and is told to `onFailed`. */
  async add(chunk: TraceChunk): Promise<void> {
    if (this.#ending !== undefined) return
    try {
      checkChunk(chunk, this.#manifest.config.parallel.dcpSize)
      this.#parts.add(chunk)
      this.#progress.add(chunk)
      if (this.#parts.bufferedBytes > MAX_BUFFERED_BYTES) await this.#parts.flush()
    } catch (error) {
      await this.fail(error)
    }
  }

  async piece(message: FileMessage): Promise<void> {
    if (this.#ending !== undefined) return
    try {
      this.#tensors.piece(message)
    } catch (error) {
      await this.fail(error)
    }
  }

  /** Resolves when all tables have the same steps on disk. */
  flushed(): Promise<void> {
    return this.#parts.flushed()
  }

  /** Makes all that was added readable. */
  async flush(): Promise<void> {
    if (this.#ending !== undefined) return
    try {
      await this.#parts.flush()
    } catch (error) {
      await this.fail(error)
    }
  }

  /** The regular end; resolves with the status that the bundle has then. */
  end({ status, error, dropped, captureNotes, kernelNote, uncertaintyNs }: EndMessage): Promise<RunStatus> {
    return this.#finish(async () => {
      await this.#parts.flush()
      const unfinished = this.#tensors.abandon().map((file) => `${file}: its last piece never came`)
      const notes = [...captureNotes, ...unfinished]
      await this.#close(
        {
          ...withoutWriter(this.#manifest),
          status,
          ...(uncertaintyNs === undefined ? {} : { clock: { ...this.#manifest.clock, uncertaintyNs } }),
          ...(error === undefined ? {} : { error }),
          ...(notes.length === 0 ? {} : { captureNotes: notes }),
          ...(kernelNote === undefined ? {} : { kernelNote }),
        },
        dropped,
      )
    })
  }

  /** The engine is gone: keeps what came. */
  interrupt(reason: string): Promise<RunStatus> {
    return this.#finish(async () => {
      await this.#parts.flush()
      this.#tensors.abandon()
      await this.#close({ ...withoutWriter(this.#manifest), status: 'interrupted', error: reason }, 0)
    })
  }

  /** Writing does not work: ends the run as failed with what is on disk. */
  async fail(error: unknown): Promise<void> {
    await this.#finish(async () => {
      throw error
    })
  }

  async #finish(work: () => Promise<void>): Promise<RunStatus> {
    this.#ending ??= this.#end(work)
    await this.#ending
    return this.#manifest.status
  }

  async #end(work: () => Promise<void>): Promise<void> {
    clearTimeout(this.#timer)
    try {
      await work()
    } catch (error) {
      await this.#closeFailed(writeProblem(error, this.bundle))
    } finally {
      await this.#parts.close()
    }
  }

  async #close(manifest: Manifest, dropped: number): Promise<void> {
    rmSync(reserveFile(this.bundle), { force: true })
    const duck = await openDuck()
    try {
      const summary = await withConnection(duck, (c) => summarise(c, this.bundle, manifest, dropped))
      const closed = { ...manifest, endedAt: new Date().toISOString(), summary }
      writeManifest(this.bundle, closed)
      this.#manifest = closed
    } finally {
      duck.closeSync()
    }
  }

  async #closeFailed(problem: StoreProblem): Promise<void> {
    this.#parts.discard()
    this.#tensors.abandon()
    const failed: Manifest = { ...withoutWriter(this.#manifest), status: 'failed', error: problem.message }
    this.#manifest = { ...failed, endedAt: new Date().toISOString() }
    let told = problem.message
    try {
      rmSync(reserveFile(this.bundle), { force: true })
      // First without the summary, which needs more to go right.
      writeManifest(this.bundle, this.#manifest)
      await this.#close(failed, 0)
    } catch (error) {
      if (!isMissing(error))
        told += `; its numbers are incomplete: ${writeProblem(error, this.bundle).message}`
    }
    this.#onFailed(told)
  }

  #arm(): void {
    this.#timer = setTimeout(async () => {
      await this.flush()
      if (this.#ending === undefined) this.#arm()
    }, FLUSH_MS)
  }
}

const withoutWriter = ({ writer: _, ...manifest }: Manifest): Manifest => manifest
