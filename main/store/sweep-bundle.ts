import { closeSync, openSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type PointRow, pointRowOf, pointsChunk } from '../../app/sweep/point-rows.ts'
import type { Manifest } from '../../app/trace/manifest.ts'
import { beginProblem, prepareFolder, reserveFile, writeBegin } from './bundle-beginning.ts'
import { checkPart, listParts, temporaryName } from './bundle-files.ts'
import { checkChunk } from './chunk-check.ts'
import { naming } from './damaged-part.ts'
import { openDuck, plainRows, withConnection } from './duck.ts'
import { ownWriter, readManifest, writeManifest, writerMayLive } from './manifest-file.ts'
import { PartWriter } from './part-writer.ts'
import { codeOf, isMissing, problemText, StoreProblem, writeProblem } from './problem.ts'
import { relation } from './sources.ts'

/** Time between flushes: what a killed process loses at most. */
const FLUSH_MS = 1000

/** The points of a bundle, in the order in which they were written. Rejects with StoreProblem. */
export const readPoints = async (bundle: string): Promise<PointRow[]> => {
  for (const part of listParts(bundle, 'points')) checkPart(part.path)
  const duck = await openDuck()
  try {
    const rows = await withConnection(duck, (c) =>
      plainRows(c, `SELECT * FROM ${relation(bundle, 'points')}`),
    )
    return rows.map(pointRowOf)
  } catch (error) {
    throw new StoreProblem(problemText(await naming(error, bundle, duck)))
  } finally {
    duck.closeSync()
  }
}

/** What a process that is killed while it holds a claim leaves behind counts for no longer. */
const CLAIM_MS = 10_000

const isStale = (claim: string): boolean => {
  const stats = statSync(claim, { throwIfNoEntry: false })
  return stats !== undefined && Date.now() - stats.mtimeMs > CLAIM_MS
}

/** Lets one process only see that nobody writes the bundle and become its writer: of two that look at once both would. */
const claimed = <T>(folder: string, act: () => T): T => {
  const claim = join(folder, temporaryName('claim'))
  if (isStale(claim)) rmSync(claim, { force: true })
  try {
    closeSync(openSync(claim, 'wx'))
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
    throw new StoreProblem(`another process begins to measure the sweep: ${folder}`)
  }
  try {
    return act()
  } finally {
    rmSync(claim, { force: true })
  }
}

/** Makes this process the writer of a bundle. */
const begun = (folder: string, manifest: Manifest): Manifest => {
  const writer = { ...ownWriter(), since: new Date().toISOString() }
  const running: Manifest = { ...manifest, status: 'running', writer }
  writeBegin(folder, running)
  return running
}

/** What the bundle says that is to be gone on with. Throws when somebody writes it. */
const unwritten = (folder: string): Manifest => {
  const { error: _, endedAt: __, ...manifest } = readManifest(folder)
  if (manifest.status === 'running' && writerMayLive(manifest))
    throw new StoreProblem(
      `the sweep is being measured by process ${manifest.writer?.pid} of ${manifest.writer?.host}: ${folder}`,
    )
  return manifest
}

/** Writes the bundle of a sweep: its manifest and the table of its points. It can be closed and gone on with. */
export class SweepBundle {
  readonly folder: string
  readonly #parts: PartWriter
  #manifest: Manifest
  #timer: NodeJS.Timeout | undefined
  #ending = false
  /** What kept rows from being written; from then on nothing is. */
  #problem: StoreProblem | undefined

  private constructor(folder: string, manifest: Manifest, parts: PartWriter) {
    this.folder = folder
    this.#manifest = manifest
    this.#parts = parts
    this.#arm()
  }

  /** Makes the bundle in a folder that is new or empty. */
  static begin(folder: string, manifest: Manifest): Promise<SweepBundle> {
    return SweepBundle.#open(folder, () => {
      prepareFolder(folder)
      return begun(folder, manifest)
    })
  }

  /** Goes on with a bundle that nobody writes. */
  static resume(folder: string): Promise<SweepBundle> {
    return SweepBundle.#open(folder, () =>
      claimed(folder, () => {
        const manifest = unwritten(folder)
        rmSync(reserveFile(folder), { force: true })
        return begun(folder, manifest)
      }),
    )
  }

  static async #open(folder: string, begin: () => Manifest): Promise<SweepBundle> {
    const parts = await PartWriter.open(folder)
    try {
      return new SweepBundle(folder, begin(), parts)
    } catch (error) {
      await parts.close()
      throw beginProblem(error, folder)
    }
  }

  get manifest(): Manifest {
    return this.#manifest
  }

  /** Takes rows, which are on disk a second later. Throws what kept earlier ones from being written. */
  add(rows: readonly PointRow[]): void {
    this.#demandWritable()
    const chunk = pointsChunk(rows)
    checkChunk(chunk, 0)
    this.#parts.add(chunk)
  }

  /** Replaces what the manifest says of the sweep. */
  note(sweep: NonNullable<Manifest['sweep']>): void {
    this.#demandWritable()
    this.#manifest = { ...this.#manifest, sweep }
    try {
      writeManifest(this.folder, this.#manifest)
    } catch (error) {
      this.#problem = writeProblem(error, this.folder)
      throw this.#problem
    }
  }

  /**
   * Makes all rows readable and closes the bundle; `error` says why it failed. Rejects when that cannot be written, and
   * does nothing the second time.
   */
  async end(status: 'complete' | 'stopped' | 'failed', error?: string): Promise<void> {
    if (this.#ending) return
    this.#ending = true
    clearTimeout(this.#timer)
    await this.#flush()
    await this.#parts.close()
    this.#close(this.#problem === undefined ? status : 'failed', this.#problem?.message ?? error)
    this.#demandWritable()
  }

  #close(status: Manifest['status'], error: string | undefined): void {
    const { writer: _, ...manifest } = this.#manifest
    const told = error === undefined ? {} : { error }
    this.#manifest = { ...manifest, status, ...told, endedAt: new Date().toISOString() }
    try {
      rmSync(reserveFile(this.folder), { force: true })
      writeManifest(this.folder, this.#manifest)
    } catch (cause) {
      if (!isMissing(cause)) this.#problem ??= writeProblem(cause, this.folder)
    }
  }

  async #flush(): Promise<void> {
    try {
      await this.#parts.flush()
    } catch (error) {
      this.#problem ??= writeProblem(error, this.folder)
    }
  }

  #demandWritable(): void {
    if (this.#problem !== undefined) throw this.#problem
  }

  #arm(): void {
    this.#timer = setTimeout(async () => {
      await this.#flush()
      if (this.#problem === undefined && !this.#ending) this.#arm()
    }, FLUSH_MS)
  }
}
