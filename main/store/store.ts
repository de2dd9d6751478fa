import { existsSync, readdirSync, statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import type { DuckDBInstance } from '@duckdb/node-api'
import {
  type Progress,
  type RunRef,
  type StoreEvent,
  type StoreMethod,
  type StoreParams,
  type StoreResult,
  storeCommandSchema,
  storeMethods,
} from '../../app/protocol/store.ts'
import { isUnfinished } from '../../app/sweep/manifest.ts'
import type { Manifest } from '../../app/trace/manifest.ts'
import type { Port } from '../process/port.ts'
import { runIdOf } from '../process/run-id.ts'
import { captureFolder, hasReference, listCaptures } from './bundle-files.ts'
import { BundleWriter } from './bundle-writer.ts'
import { type Asked, ClientLine } from './client-line.ts'
import { CompareShelf, isCompareMethod } from './compare-shelf.ts'
import { openDuck, withConnection } from './duck.ts'
import { DumpShelf, isDumpMethod } from './dump-shelf.ts'
import { ENGINE_GONE, EngineLine } from './engine-line.ts'
import { interrupted, isOwn, readManifest, writeManifest, writerMayLive } from './manifest-file.ts'
import { isPageMethod, PageShelf } from './page-shelf.ts'
import { isMissing, problemText, StoreProblem } from './problem.ts'
import { answerRun, parsedParams, RunBundle, runParams } from './run-bundle.ts'
import { bundleTitle } from './run-title.ts'
import { enumStatements } from './table-sql.ts'

const PROGRESS_MS = 100
/** Runs whose spans stay in memory. */
const OPEN_RUNS = 2
const WRITER_GONE = 'the process that wrote the run is gone; everything up to its last second is kept'

/** Reasons of an interruption that say no more than that there was one. */
const UNEXPLAINED: readonly string[] = [ENGINE_GONE, WRITER_GONE]

/**
 * Owns run bundles: writes those of attached engines, answers attached clients, and obeys the commands of main
 * or the command line. Runs are known by opaque ids.
 */
export class Store {
  readonly #engines = new Set<EngineLine>()
  readonly #clients = new Set<ClientLine>()
  /** Run ids by folder and back: of the one who starts a run, else runIdOf, which outlives a restart of the store. */
  readonly #idOf = new Map<string, string>()
  readonly #folderOf = new Map<string, string>()
  /** Runs that are being written, by folder. */
  readonly #writers = new Map<string, BundleWriter>()
  /** Runs that were asked for, the latest last. */
  readonly #bundles = new Map<string, RunBundle>()
  /** Files and folders of the dumps that were opened. */
  readonly #dumps = new Map<string, readonly string[]>()
  readonly #shelf = new DumpShelf((id) => this.#dumps.get(id) ?? this.#captured(id))
  readonly #pages = new PageShelf(async (run) => {
    const folder = this.#folderOf.get(run)
    if (folder === undefined) return undefined
    await this.#writers.get(folder)?.flushed()
    return this.#bundle(run)
  }, this.#shelf)
  readonly #compared = new CompareShelf({
    bundle: (run) => this.#bundle(run),
    others: async () => {
      const duck = await this.#instance()
      return this.#listRuns().flatMap(({ id }) => this.#opened(id, duck) ?? [])
    },
    duck: () => this.#instance(),
    dumps: this.#shelf,
  })
  #duck: Promise<DuckDBInstance> | undefined
  /** As DuckDB writes it; undefined: what it takes unless it is told otherwise. */
  #memoryLimit: string | undefined
  /** Folders of the runs that this store began. */
  readonly #begun = new Set<string>()
  #runsFolder: string | undefined
  /** Folders of bundles that were opened, and that main knows from earlier. */
  readonly #elsewhere = new Set<string>()
  readonly #dirty = new Set<BundleWriter>()
  #progressTimer: NodeJS.Timeout | undefined

  attachEngine(port: Port): void {
    const line = new EngineLine(port, {
      begin: (id, bundle, manifest, onFailed) => this.#begin(id, resolve(bundle), manifest, onFailed),
      changed: (writer) => this.#pushSoon(writer),
      ended: (writer) => {
        this.#writers.delete(writer.bundle)
        this.#dirty.delete(writer)
        this.#push(writer.progress)
      },
      gone: () => this.#engines.delete(line),
    })
    this.#engines.add(line)
  }

  attachClient(port: Port): void {
    const client = new ClientLine(
      port,
      (method, params, asked) => this.#answer(method, params, asked),
      () => this.#clients.delete(client),
    )
    this.#clients.add(client)
    for (const writer of this.#writers.values()) client.push(writer.progress)
  }

  /** Whether the bundle in `folder` is of a run that this store began, and not of somebody else. */
  began(folder: string): boolean {
    return this.#begun.has(resolve(folder))
  }

  /** A command, not yet parsed. Resolves with its answer; undefined for a command without one. */
  async handle(command: unknown): Promise<StoreEvent | undefined> {
    const parsed = storeCommandSchema.safeParse(command)
    if (!parsed.success) throw new StoreProblem('the store got a command that is not valid')
    const { data } = parsed
    switch (data.type) {
      case 'runsFolder':
        this.#runsFolder = resolve(data.folder)
        for (const folder of data.elsewhere ?? []) this.#elsewhere.add(resolve(folder))
        return undefined
      case 'open':
        try {
          return { type: 'opened', seq: data.seq, run: await this.#open(resolve(data.folder)) }
        } catch (error) {
          return { type: 'refused', seq: data.seq, message: problemText(error) }
        }
      case 'dump':
        this.#dumps.set(data.id, data.paths)
        return undefined
      case 'interrupt':
        await this.#interrupt(resolve(data.bundle), data.reason)
        return undefined
      case 'limits':
        await this.#limit(data.memoryMb)
        return undefined
      case 'ping':
        return { type: 'pong', seq: data.seq }
    }
  }

  /** What a client asks for, within this process. Rejects with one sentence. */
  async request<M extends StoreMethod>(method: M, params: StoreParams<M>): Promise<StoreResult<M>>
  async request(method: StoreMethod, params: unknown): Promise<unknown> {
    return this.#answer(method, params)
  }

  /** Ends what is being written as interrupted and closes all lines. */
  async close(): Promise<void> {
    await Promise.all([...this.#engines].map((line) => line.interrupt('the store was closed during the run')))
    clearTimeout(this.#progressTimer)
    for (const client of this.#clients) client.close()
    this.#clients.clear()
    this.#bundles.clear()
    ;(await this.#duck)?.closeSync()
    this.#duck = undefined
  }

  async #begin(
    id: string,
    folder: string,
    manifest: Manifest,
    onFailed: (problem: string) => void,
  ): Promise<BundleWriter> {
    if (this.#folderOf.has(id)) throw new StoreProblem(`the run ${id} exists already`)
    const writer = await BundleWriter.begin(id, folder, manifest, onFailed)
    this.#idOf.set(folder, id)
    this.#folderOf.set(id, folder)
    this.#begun.add(folder)
    this.#writers.set(folder, writer)
    return writer
  }

  async #open(folder: string): Promise<string> {
    const id = this.#idFor(folder)
    const bundle = await this.#bundle(id)
    // Also says what is wrong with the manifest, if anything.
    bundle.manifest
    bundle.checkParts()
    this.#elsewhere.add(folder)
    return id
  }

  /** The line to a dead engine breaks on its own, without the reason that the command gives. */
  async #interrupt(folder: string, reason: string): Promise<void> {
    await this.#writers.get(folder)?.interrupt(reason)
    const manifest = readManifest(folder)
    const unexplained = manifest.status === 'interrupted' && UNEXPLAINED.includes(manifest.error ?? '')
    if (manifest.status === 'running' || unexplained) writeManifest(folder, interrupted(manifest, reason))
  }

  #idFor(folder: string): string {
    const known = this.#idOf.get(folder)
    if (known !== undefined) return known
    const id = runIdOf(folder)
    this.#idOf.set(folder, id)
    this.#folderOf.set(id, folder)
    return id
  }

  /** The manifest as it is now. One that says running while its writer is gone is put right, on disk if possible. */
  #manifest(folder: string): Manifest {
    const writer = this.#writers.get(folder)
    if (writer !== undefined) return writer.manifest
    const manifest = readManifest(folder)
    if (manifest.status !== 'running' || (!isOwn(manifest) && writerMayLive(manifest))) return manifest
    const ended = interrupted(manifest, WRITER_GONE)
    try {
      writeManifest(folder, ended)
    } catch {
      // A bundle that cannot be written to is shown as interrupted all the same.
    }
    return ended
  }

  async #bundle(id: string): Promise<RunBundle> {
    // No wait between the look and the entry: requests that come together share one bundle.
    const duck = await this.#instance()
    const bundle = this.#opened(id, duck)
    if (bundle === undefined) throw new StoreProblem('no such run')
    this.#bundles.delete(id)
    this.#bundles.set(id, bundle)
    for (const [oldest] of this.#bundles) {
      if (this.#bundles.size <= OPEN_RUNS) break
      this.#bundles.delete(oldest)
    }
    return bundle
  }

  /** The bundle as it is in memory, else anew; it is not kept there. Undefined where there is no such run. */
  #opened(id: string, duck: DuckDBInstance): RunBundle | undefined {
    const folder = this.#folderOf.get(id)
    if (folder === undefined) return undefined
    return this.#bundles.get(id) ?? new RunBundle(id, folder, duck, () => this.#manifest(folder))
  }

  async #answer(method: StoreMethod, params: unknown, asked?: Asked): Promise<unknown> {
    if (method === 'listRuns') {
      parsedParams(method, storeMethods.listRuns.params, params)
      return this.#listRuns()
    }
    if (isDumpMethod(method))
      return this.#shelf.answer(method, params, {
        aborted: () => asked?.signal.throwIfAborted(),
        progress: asked?.progress ?? (() => {}),
      })
    if (isCompareMethod(method))
      return this.#compared.answer(method, params, {
        signal: asked?.signal,
        progress: asked?.progress ?? (() => {}),
      })
    if (isPageMethod(method)) return this.#pages.answer(method, params, () => asked?.signal.throwIfAborted())
    const { run } = parsedParams(method, runParams, params)
    const bundle = await this.#bundle(run)
    return answerRun(bundle, method, params, asked?.signal)
  }

  /** Folders of what a run captured; while it goes on, only of what is whole. Undefined where there is no such run. */
  #captured(run: string): readonly string[] | undefined {
    const folder = this.#folderOf.get(run)
    if (folder === undefined) return undefined
    const live = this.#manifest(folder).status === 'running'
    return listCaptures(folder)
      .filter((ref) => !live || hasReference(folder, ref))
      .map((ref) => captureFolder(folder, ref))
  }

  async #limit(memoryMb: number): Promise<void> {
    this.#memoryLimit = memoryMb === 0 ? undefined : `${memoryMb}MiB`
    const limit = this.#memoryLimit
    const duck = await this.#duck
    if (duck === undefined) return
    await withConnection(duck, (connection) =>
      connection.run(
        limit === undefined ? 'RESET GLOBAL memory_limit' : `SET GLOBAL memory_limit = '${limit}'`,
      ),
    )
  }

  #instance(): Promise<DuckDBInstance> {
    this.#duck ??= openDuck(this.#memoryLimit === undefined ? {} : { memory_limit: this.#memoryLimit }).then(
      async (duck) => {
        await withConnection(duck, async (connection) => {
          for (const statement of enumStatements()) await connection.run(statement)
        })
        return duck
      },
    )
    return this.#duck
  }

  #listRuns(): RunRef[] {
    const own = this.#runsFolder === undefined ? [] : bundlesIn(this.#runsFolder)
    const elsewhere = [...this.#elsewhere].filter((path) => existsSync(path))
    return [...new Set([...own, ...elsewhere])]
      .map((path) => this.#runRef(path))
      .sort((a, b) => b.createdAt.localeCompare(a.createdAt))
  }

  /** A bundle that cannot be read is listed with what is wrong with it. */
  #runRef(folder: string): RunRef {
    const id = this.#idFor(folder)
    try {
      const manifest = this.#manifest(folder)
      const { name, createdAt, status } = manifest
      const unfinished = isUnfinished(manifest)
      return { id, name, createdAt, status, title: bundleTitle(manifest), unfinished, ...outcomeOf(manifest) }
    } catch (error) {
      const createdAt = statSync(folder, { throwIfNoEntry: false })?.mtime ?? new Date(0)
      return {
        id,
        name: basename(folder, '.dcp'),
        createdAt: createdAt.toISOString(),
        status: 'failed',
        title: problemText(error),
      }
    }
  }

  #pushSoon(writer: BundleWriter): void {
    this.#dirty.add(writer)
    this.#progressTimer ??= setTimeout(() => {
      this.#progressTimer = undefined
      for (const changed of this.#dirty) this.#push(changed.progress)
      this.#dirty.clear()
    }, PROGRESS_MS)
  }

  #push(progress: Progress): void {
    for (const client of this.#clients) client.push(progress)
  }
}

/** What a list says of how a run went; nothing where it has not ended. */
const outcomeOf = ({ summary }: Manifest): Pick<RunRef, 'outcome'> => {
  if (summary === undefined) return {}
  const { tokensPerSecond, provenance, check } = summary
  return { outcome: { tokensPerSecond, provenance, maxRelErr: check.maxRelErr, ok: check.ok } }
}

const bundlesIn = (folder: string): string[] => {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && entry.name.endsWith('.dcp'))
      .map((entry) => join(folder, entry.name))
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}
