import { type EngineEvent, MESSAGE_BYTES, type Seat, type TraceMessage } from '../../app/protocol/engine.ts'
import type { RunConfig } from '../../app/run/config.ts'
import { type Device, engineConfig } from '../../app/run/engine-config.ts'
import { measuredLayers } from '../../app/run/shape.ts'
import type { Manifest } from '../../app/trace/manifest.ts'
import type { NativeAddon, NativeRun } from './addon.ts'
import { captureMessages, captureNote } from './captures.ts'
import { completeChunk, sizedChunks } from './chunks.ts'
import { beginManifest, sharingOf } from './manifest.ts'
import { createOutbox, type Outbox } from './outbox.ts'
import { takeStoreReply } from './store-reply.ts'

export interface RunRequest {
  readonly runId: string
  readonly bundle: string
  readonly name: string
  readonly config: RunConfig
  readonly device: Device
  readonly seat?: Seat | undefined
  /** Of a rank with a process of its own: index of its GPU, and whether ranks share GPUs. */
  readonly gpu?: number
  readonly timeSliced?: boolean
}

/** The part of the engine that a run needs. */
export type RunEngine = Pick<NativeAddon, 'version' | 'cpu' | 'cuda' | 'createRun' | 'predictMemory'>

export interface DriverDeps {
  readonly addon: RunEngine
  /** Sends to the store; its answers come in through `storeReply`. */
  readonly post: (message: TraceMessage) => void
  readonly report: (event: EngineEvent) => void
  readonly now?: () => bigint
  /** Bytes that may be unacknowledged. */
  readonly credit?: number
}

export interface Driver {
  pause(): void
  resume(): void
  /** Ends the run after the last whole step; `ended` follows. */
  stop(): void
  /** A message of the store, not yet parsed. */
  storeReply(message: unknown): void
  /** The store's port has closed. */
  storeGone(): void
  /** Settles after `ended` was reported; never rejects. */
  readonly done: Promise<void>
}

/** The driver of a run that this process computes. */
export interface LocalDriver extends Driver {
  /** Ends a run whose engine has not stopped when it should, with what was recorded until it hung. */
  abandon(): void
  /** Ends the run at once and keeps what the stages of the step in progress have recorded. */
  halt(): void
}

type Ended = Extract<EngineEvent, { type: 'ended' }>
type Outcome = Pick<Ended, 'status' | 'error' | 'code'>
type EndMessage = Extract<TraceMessage, { type: 'end' }>
/** How the engine's part ended, before the store has closed the bundle. */
type WorkOutcome = Outcome & Pick<EndMessage, 'status'>

const FILL_MS = 200
/** Long enough that the way through JavaScript is small beside it, short enough for a live view. */
const ADVANCE_MS = 50
/** Below a message, as text columns are added to what is drained. */
const DRAIN_BYTES = MESSAGE_BYTES / 2

/** Drives one run from allocation to the closed bundle. Nothing reaches the store if the run cannot begin. */
export const startRun = (request: RunRequest, deps: DriverDeps): LocalDriver => {
  const run = new RunDriver(request, deps)
  return {
    pause: () => run.pause(),
    resume: () => run.resume(),
    stop: () => run.stop(),
    abandon: () => run.abandon(),
    halt: () => run.stop(true),
    storeReply: (message) => run.storeReply(message),
    storeGone: () => run.loseStore({ status: 'interrupted', error: STORE_GONE, code: 'ERR_STORE' }),
    done: run.drive(),
  }
}

class RunDriver {
  readonly #request: RunRequest
  readonly #deps: DriverDeps
  readonly #outbox: Outbox
  readonly #captureNotes: string[] = []
  #run: NativeRun | undefined
  #stopping = false
  #paused = false
  #wakePaused = (): void => {}
  /** Rejects when the engine is given up. */
  readonly #stuck: Promise<never>
  #abandon = (): void => {}
  #stepsDone = 0
  #kernelProblem: string | undefined
  /** How the store ended the run, when it did so on its own. */
  #storeLost: Outcome | undefined
  #closed: (outcome: Outcome) => void = () => {}

  constructor(request: RunRequest, deps: DriverDeps) {
    this.#request = request
    this.#deps = deps
    this.#outbox = createOutbox(deps.post, deps.now, deps.credit)
    this.#stuck = new Promise((_, reject) => {
      this.#abandon = () => reject(new Error('the engine does not come back'))
    })
    this.#stuck.catch(() => {})
  }

  pause(): void {
    this.#paused = true
  }

  resume(): void {
    this.#paused = false
    this.#wakePaused()
  }

  stop(keepStep = false): void {
    this.#stopping = true
    this.#run?.cancel(keepStep)
    this.#wakePaused()
  }

  abandon(): void {
    this.#run?.abandon()
    this.#abandon()
  }

  async drive(): Promise<void> {
    const outcome = await this.#outcome().catch(failure)
    this.#run?.dispose()
    this.#run = undefined
    this.#deps.report({ type: 'ended', runId: this.#request.runId, ...outcome })
  }

  async #outcome(): Promise<Outcome> {
    try {
      this.#run = this.#begin()
    } catch (error) {
      return failure(error)
    }
    const outcome = await this.#work(this.#run)
    return this.#storeLost ?? (await this.#end(this.#run, outcome))
  }

  /** Allocates, and only then tells the store, so that a refused run leaves no trace. */
  #begin(): NativeRun {
    const { runId, bundle, config, device } = this.#request
    const { addon, post } = this.#deps
    const clockBase = new Date()
    const run = addon.createRun(engineConfig(config, device))
    try {
      const facts = run.facts()
      this.#kernelProblem = facts.kernelProblem
      const manifest: Manifest = beginManifest(addon, facts, { ...this.#request, clockBase })
      post({ type: 'begin', runId, bundle, manifest })
      return run
    } catch (error) {
      run.dispose()
      throw error
    }
  }

  async #work(run: NativeRun): Promise<WorkOutcome> {
    try {
      await this.#fill(run)
      const finished = await this.#steps(run)
      return { status: finished ? 'complete' : 'stopped' }
    } catch (error) {
      if (codeOf(error) === 'ERR_CANCELLED' && (this.#stopping || this.#storeLost !== undefined))
        return { status: 'stopped' }
      return failure(error)
    }
  }

  async #fill(run: NativeRun): Promise<void> {
    for (let done = 0; done < 1 && !this.#over(); ) {
      this.#phase('filling', done)
      done = await Promise.race([run.fill(FILL_MS), this.#stuck])
    }
  }

  /** Resolves with whether all steps were run. */
  async #steps(run: NativeRun): Promise<boolean> {
    const total = this.#request.config.workload.steps
    let finished = false
    while (!finished && !this.#over()) {
      if (this.#paused) await this.#whilePaused()
      const waited = await this.#outbox.settle(false)
      if (this.#over()) break
      this.#phase('running', this.#stepsDone / total)
      const advancing = run.advance(total, ADVANCE_MS, waited)
      // The engine works while this thread copies the last batch to the store.
      this.#outbox.post()
      const result = await Promise.race([advancing, this.#stuck])
      finished = result.finished
      this.#stepsDone = result.stepsDone
      this.#collect(run)
    }
    return finished
  }

  async #whilePaused(): Promise<void> {
    this.#outbox.post()
    this.#phase('paused', this.#stepsDone / this.#request.config.workload.steps)
    while (this.#paused && !this.#over())
      await new Promise<void>((resolve) => {
        this.#wakePaused = resolve
      })
  }

  /** Moves what the engine recorded into the outbox. */
  #collect(run: NativeRun): void {
    const { runId, config } = this.#request
    const origin = {
      measuredLayers: measuredLayers(config),
      layers: config.model.layers,
      mergesPeers: config.parallel.comm === 'p2p',
      sharing: sharingOf(this.#request),
      ...(this.#kernelProblem === undefined ? {} : { kernelProblem: this.#kernelProblem }),
    }
    for (let chunks = run.drain(DRAIN_BYTES); chunks.length > 0; chunks = run.drain(DRAIN_BYTES))
      for (const native of chunks)
        for (const { chunk, bytes } of sizedChunks(completeChunk(native, origin)))
          this.#outbox.push({ type: 'chunk', runId, bytes, chunk })
    for (const capture of run.takeCaptures()) {
      if (capture.leftOut !== undefined) this.#captureNotes.push(captureNote(capture, capture.leftOut))
      for (const message of captureMessages(runId, config, capture)) this.#outbox.push(message)
    }
  }

  /** Hands over the rest and waits for the store to close the bundle. */
  async #end(run: NativeRun, outcome: WorkOutcome): Promise<Outcome> {
    this.#phase('finishing', 1)
    let last = outcome
    try {
      this.#collect(run)
    } catch (error) {
      last = failure(error)
    }
    await this.#outbox.settle(true)
    if (this.#storeLost !== undefined) return this.#storeLost
    const closed = new Promise<Outcome>((resolve) => {
      this.#closed = resolve
    })
    this.#deps.post({
      type: 'end',
      runId: this.#request.runId,
      status: last.status,
      ...(last.error === undefined ? {} : { error: last.error }),
      ...(last.code === undefined ? {} : { code: last.code }),
      dropped: run.dropped(),
      captureNotes: this.#captureNotes,
      ...lastFacts(run),
    })
    const answer = await closed
    return last.status === 'failed' ? last : answer
  }

  storeReply(message: unknown): void {
    takeStoreReply(message, this.#request.runId, {
      acknowledge: (reply) => this.#outbox.acknowledge(reply.bytes),
      closed: ({ status }) => this.#closed({ status }),
      lost: (outcome) => this.loseStore(outcome),
    })
  }

  /** The store cannot go on: the engine stops, since nothing could be kept of what it does. */
  loseStore(outcome: Outcome): void {
    this.#storeLost ??= outcome
    this.#outbox.abandon()
    this.#run?.cancel()
    this.#wakePaused()
    this.#closed(outcome)
  }

  #over(): boolean {
    return this.#stopping || this.#storeLost !== undefined
  }

  #phase(phase: Extract<EngineEvent, { type: 'phase' }>['phase'], fraction: number): void {
    this.#deps.report({ type: 'phase', runId: this.#request.runId, phase, fraction })
  }
}

const STORE_GONE = 'the store process is gone'

/**
 * How well the clocks stood to each other over the whole run, and why kernels are missing; a failed engine cannot say.
 */
const lastFacts = (run: NativeRun): Pick<EndMessage, 'uncertaintyNs' | 'kernelNote'> => {
  try {
    const { uncertaintyNs, kernelProblem } = run.facts()
    return { uncertaintyNs, ...(kernelProblem === undefined ? {} : { kernelNote: kernelProblem }) }
  } catch {
    return {}
  }
}

const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined

const failure = (error: unknown): WorkOutcome => ({
  status: 'failed',
  error: error instanceof Error ? error.message : String(error),
  code: codeOf(error) ?? 'ERR_ENGINE',
})
