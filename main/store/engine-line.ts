import { type TraceReply, traceMessageSchema } from '../../app/protocol/engine.ts'
import type { Manifest } from '../../app/trace/manifest.ts'
import type { Port } from '../process/port.ts'
import type { BundleWriter } from './bundle-writer.ts'
import { problemText } from './problem.ts'

export interface EngineLineDeps {
  /** Creates the bundle of a new run. */
  begin(
    runId: string,
    bundle: string,
    manifest: Manifest,
    onFailed: (problem: string) => void,
  ): Promise<BundleWriter>
  /** Something about the run's numbers is new. */
  changed(writer: BundleWriter): void
  /** The bundle is closed. */
  ended(writer: BundleWriter): void
  /** The engine has left, and no bundle of its is open any more. */
  gone(): void
}

export const ENGINE_GONE = 'the engine stopped without an end; everything that it had sent is kept'

/** Takes the messages of one engine host, in order, and answers each. */
export class EngineLine {
  readonly #port: Port
  readonly #deps: EngineLineDeps
  #writer: BundleWriter | undefined
  #queue: Promise<void> = Promise.resolve()
  #closed = false

  constructor(port: Port, deps: EngineLineDeps) {
    this.#port = port
    this.#deps = deps
    port.onMessage((message) => this.#then(() => this.#take(message)))
    port.onClose(() => {
      this.#closed = true
      this.#then(async () => {
        await this.#leave(ENGINE_GONE)
        deps.gone()
      })
    })
  }

  /** Ends a run in progress as interrupted with `reason`; resolves when its bundle is closed. */
  async interrupt(reason: string): Promise<void> {
    this.#then(() => this.#leave(reason))
    await this.#queue
  }

  #then(work: () => Promise<void>): void {
    this.#queue = this.#queue.then(work).catch((error: unknown) => this.#broken(problemText(error)))
  }

  async #take(message: unknown): Promise<void> {
    const parsed = traceMessageSchema.safeParse(message)
    if (!parsed.success) {
      const issue = parsed.error.issues[0]
      await this.#broken(
        `a message of the engine was lost or is not valid (${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''})`,
      )
      return
    }
    const { data } = parsed
    if (data.type === 'begin') {
      await this.#begin(data.runId, data.bundle, data.manifest)
      return
    }
    const writer = this.#writer
    if (writer === undefined || writer.id !== data.runId) {
      this.#reply({ type: 'failed', runId: data.runId, error: 'the store has no such run in progress' })
      return
    }
    switch (data.type) {
      case 'chunk':
        await writer.add(data.chunk)
        this.#deps.changed(writer)
        this.#reply({ type: 'ack', runId: data.runId, bytes: data.bytes })
        return
      case 'file':
        await writer.piece(data)
        this.#reply({ type: 'ack', runId: data.runId, bytes: data.bytes })
        return
      case 'end': {
        const status = await writer.end(data)
        // A failure was told already, as it came.
        if (this.#writer === undefined) return
        this.#forget(writer)
        this.#reply({ type: 'closed', runId: data.runId, status })
        return
      }
    }
  }

  async #begin(runId: string, bundle: string, manifest: Manifest): Promise<void> {
    if (this.#writer !== undefined) {
      this.#reply({ type: 'failed', runId, error: 'a run is in progress already' })
      return
    }
    const onFailed = (problem: string): void => {
      const failed = this.#writer
      if (failed === undefined) return
      this.#forget(failed)
      this.#reply({ type: 'failed', runId, error: problem })
    }
    try {
      this.#writer = await this.#deps.begin(runId, bundle, manifest, onFailed)
    } catch (error) {
      this.#reply({ type: 'failed', runId, error: problemText(error) })
      return
    }
    this.#deps.changed(this.#writer)
  }

  async #leave(reason: string): Promise<void> {
    const writer = this.#writer
    if (writer === undefined) return
    await writer.interrupt(reason)
    if (this.#writer !== undefined) this.#forget(writer)
  }

  /** The order of messages cannot be trusted any more: the run ends with what came. */
  async #broken(problem: string): Promise<void> {
    const writer = this.#writer
    if (writer === undefined) this.#reply({ type: 'failed', runId: '', error: problem })
    else await writer.fail(new Error(problem))
  }

  #forget(writer: BundleWriter): void {
    this.#writer = undefined
    this.#deps.ended(writer)
  }

  #reply(reply: TraceReply): void {
    if (!this.#closed) this.#port.post(reply)
  }
}
