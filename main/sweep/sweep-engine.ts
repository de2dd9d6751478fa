import { randomUUID } from 'node:crypto'
import { type EngineEvent, traceMessageSchema } from '../../app/protocol/engine.ts'
import type { RunConfig } from '../../app/run/config.ts'
import { Meter, type RunMeter } from '../../app/sweep/meter.ts'
import type { Manifest } from '../../app/trace/manifest.ts'
import { messageOf } from '../process/message-of.ts'
import type { EngineLine } from './engine-line.ts'
import type { Ready } from './machine.ts'

type Ended = Pick<Extract<EngineEvent, { type: 'ended' }>, 'status' | 'error' | 'code'>

export type PointOutcome =
  | { readonly kind: 'measured'; readonly meter: RunMeter; readonly manifest: Manifest }
  /** The device does not hold it. */
  | { readonly kind: 'memory'; readonly reason: string }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'stopped' }

/** One run in the engine: its trace becomes numbers as it comes and is not kept. */
interface Running {
  readonly runId: string
  readonly meter: Meter
  manifest: Manifest | undefined
  readonly end: (ended: Ended) => void
}

interface Started {
  readonly process: EngineLine
  readonly ready: Promise<Ready>
}

/**
 * One engine process for many runs, one after the other. One that dies takes its run along and no other: the next run
 * starts another.
 */
export class SweepEngine {
  readonly #fork: () => EngineLine
  readonly #asked: () => boolean
  #started: Started | undefined
  #running: Running | undefined

  /** `fork` makes an engine process; whoever is `asked` to stop stops it as well. */
  constructor(fork: () => EngineLine, asked: () => boolean) {
    this.#fork = fork
    this.#asked = asked
  }

  /** What the engine says of this machine; rejects with the reason where there is none. */
  ready(): Promise<Ready> {
    return this.#engine().ready
  }

  /** Measures a run. Never rejects. */
  async run(config: RunConfig): Promise<PointOutcome> {
    let engine: EngineLine
    try {
      const started = this.#engine()
      engine = started.process
      await started.ready
    } catch (error) {
      return { kind: 'failed', reason: messageOf(error) }
    }
    if (this.#asked()) return { kind: 'stopped' }
    return this.#measure(engine, config)
  }

  /** Ends the process. */
  async close(): Promise<void> {
    const started = this.#started
    this.#started = undefined
    await started?.process.close()
  }

  #engine(): Started {
    this.#started ??= this.#start()
    return this.#started
  }

  #start(): Started {
    const engine = this.#fork()
    engine.data.onMessage((message) => this.#take(engine, message))
    const ready = new Promise<Ready>((resolve, reject) => {
      engine.onEvent((event) => {
        if (event.type === 'ready') resolve(event)
        else if (event.type === 'ended' && event.runId === this.#running?.runId) this.#running.end(event)
      })
      engine.exited.then((how) => {
        if (this.#started?.process === engine) this.#started = undefined
        this.#running?.end({ status: 'interrupted', error: how })
        reject(new Error(how))
      })
    })
    // Whoever asks is told; a process that dies between two runs is nobody's failure.
    ready.catch(() => {})
    return { process: engine, ready }
  }

  async #measure(engine: EngineLine, config: RunConfig): Promise<PointOutcome> {
    const runId = randomUUID()
    const meter = new Meter(config.parallel.dcpSize)
    const ended = await new Promise<Ended>((end) => {
      this.#running = { runId, meter, manifest: undefined, end }
      if (config.engine.ranks === 'processes') engine.watch()
      engine.send({ type: 'start', runId, bundle: '', name: 'point', config })
    })
    const manifest = this.#running?.manifest
    this.#running = undefined
    // Nothing works in such a process any more.
    if (ended.code === 'ERR_DEVICE') await engine.close()
    // One that had to be killed because it did not stop is no failure of the point.
    if (ended.status === 'stopped' || (ended.status === 'interrupted' && this.#asked()))
      return { kind: 'stopped' }
    const result = meter.result()
    if (ended.status === 'complete' && result !== undefined && manifest !== undefined)
      return { kind: 'measured', meter: result, manifest }
    const reason = ended.error ?? `the run ended as ${ended.status}`
    return { kind: ended.code === 'ERR_MEMORY' ? 'memory' : 'failed', reason }
  }

  /** The store's end of the line: takes the trace of the run in progress and answers as a store does. */
  #take(engine: EngineLine, message: unknown): void {
    const parsed = traceMessageSchema.safeParse(message)
    const running = this.#running
    if (!parsed.success || running === undefined || parsed.data.runId !== running.runId) {
      engine.data.post({ type: 'failed', runId: running?.runId ?? '', error: 'a message was lost' })
      return
    }
    const { data } = parsed
    const { runId } = data
    switch (data.type) {
      case 'begin':
        running.manifest = data.manifest
        return
      case 'chunk':
        running.meter.add(data.chunk)
        engine.data.post({ type: 'ack', runId, bytes: data.bytes })
        return
      case 'file':
        engine.data.post({ type: 'ack', runId, bytes: data.bytes })
        return
      case 'end':
        engine.data.post({ type: 'closed', runId, status: data.status })
        return
    }
  }
}
