import { randomBytes } from 'node:crypto'
import {
  CREDIT_BYTES,
  type EngineEvent,
  MESSAGE_BYTES,
  type TraceMessage,
  traceReplySchema,
} from '../../app/protocol/engine.ts'
import {
  type Assignment,
  BEAT_MS,
  type FromRank,
  fromRankSchema,
  MISSED_BEATS,
  MISSED_BEATS_AT_START,
  type Over,
} from '../../app/protocol/ranks.ts'
import type { Manifest } from '../../app/trace/manifest.ts'
import type { NativeAddon } from '../engine/addon.ts'
import type { Driver, RunRequest } from '../engine/driver.ts'
import { type CreditedMessage, createOutbox, type Outbox } from '../engine/outbox.ts'
import { isOther, measureOffset, type Offset, ROUNDS, uncertaintyOf } from './align.ts'
import { type Cause, causeText } from './cause.ts'
import { type Gathering, GroupProblem, gather, type Seated } from './gather.ts'
import { helloOf } from './greeting.ts'
import type { RankProcess } from './rank-process.ts'
import type { Seat } from './seat.ts'

export interface GroupDeps {
  readonly addon: NativeAddon
  /** Sends to the store. */
  readonly post: (message: TraceMessage) => void
  readonly report: (event: EngineEvent) => void
  /** Starts the process of one rank on this machine. */
  readonly startRank: (assignment: Assignment) => RankProcess
  /** The place that a launcher gave this process; undefined: all ranks are started here. */
  readonly seat: Seat | undefined
}

type Ended = Extract<EngineEvent, { type: 'ended' }>
type Outcome = Pick<Ended, 'status' | 'error' | 'code'>
type EndMessage = Extract<TraceMessage, { type: 'end' }>

/** How long ranks may take to hand over the rest after a failure, and after a stop. */
const FAILURE_GRACE_MS = 1500
const STOP_GRACE_MS = 4000
/** How long to wait for the one who knows why, when a rank only knows that another has ended the run. */
const REASON_MS = 500
const EXIT_MS = 1000

/**
 * Drives a run whose ranks are processes: waits until all have come, lets them begin, hands their traces to the store as
 * one run, and ends all of them when one dies, hangs or fails. To the store and to the command line it is what the driver
 * of a run in one process is.
 */
export const startGroup = (request: RunRequest, deps: GroupDeps): Driver => {
  const group = new Group(request, deps)
  return {
    pause: () => {},
    resume: () => {},
    stop: () => group.stop(),
    storeReply: (message) => group.storeReply(message),
    storeGone: () =>
      group.loseStore({ status: 'interrupted', error: 'the store process is gone', code: 'ERR_STORE' }),
    done: group.drive(),
  }
}

/** A rank as its leader sees it. */
interface RankLine extends Seated {
  readonly rank: number
  started: boolean
  manifest?: Manifest
  end?: EndMessage
  /** It is not there any more, or does not answer. */
  gone: boolean
  missed: number
  /** Where it and the others were when it last said so. */
  places: readonly string[]
  /** Takes the answer to a question for its clock; undefined when it is lost. */
  tellClock: (ns: bigint | undefined) => void
  /** How its clock stands to the leader's, where it is another one; see `isOther`. */
  clock: Offset | undefined
}

class Group {
  readonly #request: RunRequest
  readonly #deps: GroupDeps
  readonly #outbox: Outbox
  readonly #world: number
  readonly #segment = `/dcpscope-${process.pid}-${randomBytes(6).toString('hex')}`
  readonly #processes = new Map<number, RankProcess>()
  readonly #clockBaseNs: bigint
  readonly #clockBase = new Date()
  /** Ranks whose messages the store has not acknowledged yet, in the order of the messages. */
  readonly #origins: { readonly line: RankLine; readonly bytes: number }[] = []
  #gathering: Gathering | undefined
  #ranks: readonly RankLine[] = []
  #begun = false
  #stopping = false
  #cause: Cause | undefined
  #storeLost: Outcome | undefined
  #closed: (outcome: Outcome) => void = () => {}
  /** All ranks have ended or are given up. */
  #quiet: () => void = () => {}
  #grace: NodeJS.Timeout | undefined

  constructor(request: RunRequest, deps: GroupDeps) {
    this.#request = request
    this.#deps = deps
    this.#world = request.config.parallel.dcpSize
    this.#clockBaseNs = deps.addon.clockNs()
    this.#outbox = createOutbox((message) => deps.post(message))
  }

  async drive(): Promise<void> {
    const outcome = await this.#outcome().catch(problemOutcome)
    await this.#dismiss(outcome)
    this.#deps.report({ type: 'ended', runId: this.#request.runId, ...outcome })
  }

  async #outcome(): Promise<Outcome> {
    const seated = await this.#gather()
    const quiet = new Promise<void>((resolve) => {
      this.#quiet = resolve
    })
    this.#ranks = seated.map(({ hello, line }) => ({
      hello,
      line,
      rank: hello.rank,
      started: false,
      gone: false,
      missed: 0,
      places: [],
      tellClock: () => {},
      clock: undefined,
    }))
    for (const rank of this.#ranks) this.#listen(rank)
    const beats = setInterval(() => this.#beat(), BEAT_MS)
    try {
      await this.#align()
      if (!this.#isOver()) this.#startRank(0)
      await quiet
    } finally {
      clearInterval(beats)
      clearTimeout(this.#grace)
    }
    this.#deps.addon.unlinkSegment(this.#segment)
    return this.#storeLost ?? (await this.#end())
  }

  #isOver(): boolean {
    return this.#cause !== undefined || this.#storeLost !== undefined || this.#stopping
  }

  /** One rank after the other, since they would wait for each other in this process. */
  async #align(): Promise<void> {
    for (const rank of this.#ranks) {
      const offset = this.#isOver() ? undefined : await this.#measured(rank)
      if (offset !== undefined && isOther(offset)) rank.clock = offset
    }
  }

  /** Undefined for a rank that is lost meanwhile. */
  #measured(rank: RankLine): Promise<Offset | undefined> {
    const read = (): Promise<bigint> =>
      new Promise((resolve, reject) => {
        rank.tellClock = (ns) => (ns === undefined ? reject(new Error('the rank is lost')) : resolve(ns))
        if (rank.gone) rank.tellClock(undefined)
        else rank.line.post({ type: 'clock' })
      })
    return measureOffset(read, () => this.#deps.addon.clockNs()).catch(() => undefined)
  }

  /** Of the clocks over the whole run: none where all ranks read one clock. */
  async #uncertainty(): Promise<number> {
    let worst = 0
    for (const rank of this.#ranks) {
      if (rank.clock === undefined) continue
      const end = rank.gone ? undefined : await this.#measured(rank)
      worst = Math.max(worst, end === undefined ? rank.clock.errorNs : uncertaintyOf(rank.clock, end))
    }
    return Math.ceil(worst)
  }

  /** Starts the ranks of this machine and waits for all. */
  async #gather(): Promise<readonly Seated[]> {
    const { seat, addon, startRank } = this.#deps
    const { config } = this.#request
    const [address, port] = seat === undefined ? ['127.0.0.1', 0] : [seat.address, seat.port]
    const token = seat === undefined ? randomBytes(16).toString('hex') : ''
    const assignment = { world: this.#world, token, config }
    const first = helloOf(addon, { ...assignment, rank: 0, address, port })
    this.#gathering = gather({ address, port, first })
    const bound = await this.#gathering.listening
    const ranks = seat === undefined ? Array.from({ length: this.#world }, (_, rank) => rank) : [0]
    const local = seat?.localRank === undefined ? {} : { localRank: seat.localRank }
    for (const rank of ranks) {
      const process = startRank({ ...assignment, ...local, rank, address: loopback(address), port: bound })
      this.#processes.set(rank, process)
      process.ended.then(({ how }) => this.#exited(rank, how))
    }
    return this.#gathering.complete
  }

  /** The process of a rank of this machine has ended; after its last words that is as it should be. */
  #exited(rank: number, how: string): void {
    const line = this.#ranks[rank]
    if (line === undefined)
      this.#gathering?.fail(new GroupProblem('ERR_ENGINE', `rank ${rank} ${how} before all ranks had come`))
    else this.#lose(line, { rank, status: 'interrupted', what: how, code: 'ERR_ENGINE' })
  }

  #listen(rank: RankLine): void {
    rank.line.onMessage((message) => {
      const parsed = fromRankSchema.safeParse(message)
      if (parsed.success) this.#take(rank, parsed.data)
      else
        this.#lose(rank, {
          rank: rank.rank,
          status: 'failed',
          what: 'said something unknown',
          code: 'ERR_STATE',
        })
    })
    rank.line.onClose(() => {
      // Of a process of this machine the system tells how it died.
      const lost = (): void =>
        this.#lose(rank, {
          rank: rank.rank,
          status: 'interrupted',
          what: 'died or lost its connection',
          code: 'ERR_ENGINE',
        })
      if (this.#processes.has(rank.rank)) setTimeout(lost, EXIT_MS)
      else lost()
    })
  }

  #take(rank: RankLine, message: FromRank): void {
    if (rank.gone) return
    rank.missed = 0
    switch (message.type) {
      case 'beat':
        rank.places = message.places
        return
      case 'trace':
        this.#takeTrace(rank, message.message)
        return
      case 'event':
        this.#takeEvent(rank, message.event)
        return
      case 'clock':
        rank.tellClock(message.ns)
        return
    }
  }

  #takeTrace(rank: RankLine, message: TraceMessage): void {
    switch (message.type) {
      case 'begin':
        rank.manifest = message.manifest
        this.#beginNext(rank)
        return
      case 'chunk':
      case 'file':
        this.#relay(rank, message)
        return
      case 'end':
        rank.end = message
        if (message.status === 'failed') this.#failedAt(rank, message)
        this.#settle()
        return
    }
  }

  #takeEvent(rank: RankLine, event: EngineEvent): void {
    if (event.type === 'phase' && rank.rank === 0 && event.phase !== 'finishing') this.#deps.report(event)
    // Without a beginning there was no end to speak of before.
    if (event.type !== 'ended' || rank.manifest !== undefined) return
    this.#giveUp(rank)
    if (event.status === 'failed') this.#failedAt(rank, event)
    this.#settle()
  }

  /** The first rank makes the memory that the others open; the run has begun when all have. */
  #beginNext({ rank }: RankLine): void {
    if (rank === 0) for (let other = 1; other < this.#world; other++) this.#startRank(other)
    const [first] = this.#ranks
    if (first?.manifest === undefined || this.#ranks.some(({ manifest }) => manifest === undefined)) return
    this.#deps.addon.unlinkSegment(this.#segment)
    if (this.#storeLost !== undefined) return
    this.#begun = true
    const { runId, bundle } = this.#request
    this.#deps.post({ type: 'begin', runId, bundle, manifest: this.#manifest(first.manifest) })
    this.#outbox.post()
  }

  #startRank(number: number): void {
    const { runId, name } = this.#request
    const rank = this.#ranks[number]
    if (rank === undefined || rank.gone) return
    rank.started = true
    rank.line.post({
      type: 'start',
      runId,
      name,
      segment: this.#world === 1 ? '' : this.#segment,
      creates: number === 0,
      clockBaseNs: this.#clockBaseNs + (rank.clock?.offsetNs ?? 0n),
      credit: Math.max(2 * MESSAGE_BYTES, Math.floor(CREDIT_BYTES / this.#world)),
    })
  }

  #manifest(first: Manifest): Manifest {
    const base = this.#clockBase.toISOString()
    return {
      ...first,
      createdAt: base,
      clock: { base, ...this.#clocks(first.clock) },
      processes: this.#ranks.map(({ hello }) => ({
        rank: hello.rank,
        host: hello.host,
        pid: hello.pid,
        ...(hello.localRank === undefined ? {} : { localRank: hello.localRank }),
        device: hello.device,
      })),
    }
  }

  #clocks({ alignment, uncertaintyNs }: Manifest['clock']): Omit<Manifest['clock'], 'base'> {
    const others = this.#ranks.flatMap(({ clock }) => clock ?? [])
    if (others.length === 0) return { alignment, uncertaintyNs }
    const errors = others.map(({ errorNs }) => errorNs)
    return {
      alignment:
        `ranks are processes; the clocks of ${others.length} of ${this.#world} ranks are others than rank 0's and were ` +
        `set to it by the quickest of ${ROUNDS} messages there and back, at the beginning and at the end`,
      uncertaintyNs: Math.ceil(Math.max(...errors)),
    }
  }

  #relay(line: RankLine, message: CreditedMessage): void {
    if (this.#storeLost !== undefined) return
    this.#origins.push({ line, bytes: message.bytes })
    this.#outbox.push(message)
    if (this.#begun) this.#outbox.post()
  }

  storeReply(message: unknown): void {
    const parsed = traceReplySchema.safeParse(message)
    if (!parsed.success) {
      this.loseStore({ status: 'failed', error: 'the store answered something unknown', code: 'ERR_STORE' })
      return
    }
    const reply = parsed.data
    if (reply.runId !== this.#request.runId) return
    switch (reply.type) {
      case 'ack': {
        // The store answers in the order in which it was asked.
        const origin = this.#origins.shift()
        origin?.line.line.post({ type: 'reply', reply })
        this.#outbox.acknowledge(reply.bytes)
        return
      }
      case 'failed':
        this.loseStore({ status: 'failed', error: reply.error, code: 'ERR_STORE' })
        return
      case 'closed':
        this.#closed({ status: reply.status })
        return
    }
  }

  /** The store cannot go on: nothing could be kept of what the ranks do. */
  loseStore(outcome: Outcome): void {
    this.#storeLost ??= outcome
    this.#outbox.abandon()
    this.#gathering?.fail(new GroupProblem(outcome.code ?? 'ERR_STORE', outcome.error ?? 'the store is gone'))
    for (const rank of this.#ranks) this.#giveUp(rank)
    this.#closed(outcome)
    this.#settle()
  }

  stop(): void {
    if (this.#stopping) return
    this.#stopping = true
    this.#gathering?.fail(new GroupProblem('ERR_CANCELLED', 'the run was stopped'))
    this.#limit(STOP_GRACE_MS, 'did not stop')
    this.#stopRanks()
  }

  #stopRanks(): void {
    for (const rank of this.#ranks) {
      if (!rank.started) this.#giveUp(rank)
      else if (!rank.gone && rank.end === undefined) rank.line.post({ type: 'stop' })
    }
    this.#settle()
  }

  /** A rank says that it failed: why the run ends, unless it only repeats that another has ended it. */
  #failedAt(rank: RankLine, { error = '', code = 'ERR_ENGINE' }: Pick<EndMessage, 'error' | 'code'>): void {
    const cause: Cause = { rank: rank.rank, status: 'failed', what: error, code }
    if (code !== 'ERR_ABANDONED') this.#fail(cause)
    else setTimeout(() => this.#fail(cause), REASON_MS).unref()
  }

  #giveUp(rank: RankLine): void {
    rank.gone = true
    rank.tellClock(undefined)
  }

  /** A rank is not there any more. */
  #lose(rank: RankLine, cause: Cause): void {
    if (rank.gone) return
    this.#giveUp(rank)
    if (rank.end === undefined) this.#fail(cause)
    this.#settle()
  }

  #fail(cause: Cause): void {
    if (this.#cause !== undefined || this.#storeLost !== undefined) return
    this.#cause = cause
    this.#limit(FAILURE_GRACE_MS, 'did not stop')
    this.#stopRanks()
  }

  /** Ranks that have not ended within `ms` are given up. */
  #limit(ms: number, what: string): void {
    clearTimeout(this.#grace)
    this.#grace = setTimeout(() => {
      for (const rank of this.#ranks)
        if (rank.end === undefined && !rank.gone) {
          this.#cause ??= { rank: rank.rank, status: 'interrupted', what, code: 'ERR_ENGINE' }
          this.#giveUp(rank)
        }
      this.#settle()
    }, ms)
  }

  #settle(): void {
    if (this.#ranks.every(({ end, gone }) => end !== undefined || gone)) this.#quiet()
  }

  /** One sign of life to every rank, and one that is expected of it. */
  #beat(): void {
    for (const rank of this.#ranks) {
      if (rank.gone) continue
      rank.line.post({ type: 'beat' })
      const most = rank.started && rank.manifest === undefined ? MISSED_BEATS_AT_START : MISSED_BEATS
      if (++rank.missed > most && rank.end === undefined)
        this.#lose(rank, {
          rank: rank.rank,
          status: 'interrupted',
          what: `has not answered for ${(most * BEAT_MS) / 1000} s`,
          code: 'ERR_ABSENT',
        })
    }
  }

  /** Hands the rest to the store and waits for it to close the bundle. */
  async #end(): Promise<Outcome> {
    const outcome = this.#ending()
    if (!this.#begun) return outcome
    const { runId } = this.#request
    this.#deps.report({ type: 'phase', runId, phase: 'finishing', fraction: 1 })
    const between = await this.#uncertainty()
    await this.#outbox.settle(true)
    if (this.#storeLost !== undefined) return this.#storeLost
    const closed = new Promise<Outcome>((resolve) => {
      this.#closed = resolve
    })
    const ends = this.#ranks.flatMap(({ end }) => end ?? [])
    const own = ends.flatMap(({ uncertaintyNs }) => uncertaintyNs ?? [])
    const kernelNote = ends.find((end) => end.kernelNote !== undefined)?.kernelNote
    this.#deps.post({
      type: 'end',
      runId,
      ...outcome,
      dropped: ends.reduce((sum, { dropped }) => sum + dropped, 0),
      captureNotes: ends.flatMap(({ captureNotes }) => captureNotes),
      ...(kernelNote === undefined ? {} : { kernelNote }),
      uncertaintyNs: Math.max(0, ...own) + between,
    })
    const answer = await closed
    return this.#cause === undefined || this.#storeLost !== undefined ? answer : outcome
  }

  /** How the ranks ended, all together. */
  #ending(): Outcome & Pick<EndMessage, 'status'> {
    if (this.#cause !== undefined) {
      const { status, code } = this.#cause
      return { status, code, error: causeText(this.#cause, this.#world, this.#placeOf(this.#cause.rank)) }
    }
    const complete = this.#ranks.every(({ end }) => end?.status === 'complete')
    return { status: complete ? 'complete' : 'stopped' }
  }

  /** Where a rank was last: as the others see it, else as it said itself. */
  #placeOf(rank: number): string | undefined {
    const witness = this.#ranks.find((other) => other.rank !== rank && other.places[rank] !== undefined)
    const line = this.#ranks[rank]
    return (witness ?? line)?.places[rank] ?? (line?.manifest === undefined ? 'its start' : undefined)
  }

  /** Tells all ranks how the run ended, and sees to it that the processes of this machine end. */
  async #dismiss(outcome: Outcome): Promise<void> {
    this.#gathering?.close()
    const over: Over = { type: 'over', ...outcome }
    for (const { line } of this.#ranks) {
      line.post(over)
      line.finish()
    }
    const all = Promise.all([...this.#processes.values()].map(({ ended }) => ended))
    await Promise.race([all, new Promise((resolve) => setTimeout(resolve, EXIT_MS))])
    for (const process of this.#processes.values()) process.kill()
    await all
  }
}

/** Where the ranks of this machine reach a leader that listens at `address`. */
const loopback = (address: string): string => (address === '127.0.0.1' ? address : 'localhost')

const problemOutcome = (error: unknown): Outcome => {
  if (error instanceof GroupProblem && error.code === 'ERR_CANCELLED') return { status: 'stopped' }
  return {
    status: 'failed',
    error: error instanceof Error ? error.message : String(error),
    code: error instanceof GroupProblem ? error.code : 'ERR_ENGINE',
  }
}
