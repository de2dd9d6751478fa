import { randomBytes } from 'node:crypto'
import {
  CREDIT_BYTES,
  type EngineEvent,
  MESSAGE_BYTES,
  type TraceMessage,
} from '../../app/protocol/engine.ts'
import {
  type Assignment,
  BEAT_MS,
  type FromRank,
  fromRankSchema,
  GATHER_MS,
  MISSED_BEATS,
  missedBeatsAtStart,
  type Over,
} from '../../app/protocol/ranks.ts'
import { type RankGpu, sharesGpus } from '../../app/run/gpus.ts'
import type { Manifest } from '../../app/trace/manifest.ts'
import type { NativeAddon } from '../engine/addon.ts'
import type { Driver, RunRequest } from '../engine/driver.ts'
import { takeStoreReply } from '../engine/store-reply.ts'
import { type Cause, causeText } from './cause.ts'
import { alignClocks, clocksOf, clockUncertainty, ownUncertainty } from './clocks.ts'
import { type Gathering, gather, isLoopback, LEFT_MS, type Seated } from './gather.ts'
import { apartProblem, gpuProblem, gpusOfAll } from './gpu-problem.ts'
import { areApart, helloOf } from './greeting.ts'
import { LocalRanks } from './local-ranks.ts'
import { ownGpu } from './own-gpu.ts'
import { GroupProblem, stopped } from './problem.ts'
import { RankLine } from './rank-line.ts'
import type { RankProcess } from './rank-process.ts'
import { Relay } from './relay.ts'

export interface GroupDeps {
  readonly addon: NativeAddon
  /** Sends to the store. */
  readonly post: (message: TraceMessage) => void
  readonly report: (event: EngineEvent) => void
  /** Starts the process of one rank on this machine. */
  readonly startRank: (assignment: Assignment) => RankProcess
}

type Ended = Extract<EngineEvent, { type: 'ended' }>
type Outcome = Pick<Ended, 'status' | 'error' | 'code'>
type EndMessage = Extract<TraceMessage, { type: 'end' }>

/** How long ranks may take to hand over the rest after a failure, and after a stop. */
const FAILURE_GRACE_MS = 1500
const STOP_GRACE_MS = 4000
/** Longer than the system takes to tell of the end of a process. */
const NOTICE_MS = 3000
/** How long to wait for the one who knows why, when a rank only knows that another has ended the run. */
const REASON_MS = 500

/**
 * Drives a run whose ranks are processes: waits until all have come, lets them begin, hands their traces to the store as
 * one run, and ends all of them when one dies, hangs or fails. To the store and to the command line it is what the driver
 * of a run in one process is.
 */
export const startGroup = (request: RunRequest, deps: GroupDeps): Driver => {
  const group = new Group(request, deps)
  return {
    // Only windows pause, and they run no processes.
    pause: () => {},
    resume: () => {},
    stop: () => group.stop(),
    storeReply: (message) => group.storeReply(message),
    storeGone: () =>
      group.loseStore({ status: 'interrupted', error: 'the store process is gone', code: 'ERR_STORE' }),
    done: group.drive(),
  }
}

class Group {
  readonly #request: RunRequest
  readonly #deps: GroupDeps
  readonly #relay: Relay
  readonly #local: LocalRanks
  readonly #world: number
  readonly #segment = `/dcpscope-${process.pid}-${randomBytes(6).toString('hex')}`
  readonly #now: () => bigint
  readonly #clockBaseNs: bigint
  readonly #clockBase = new Date()
  #gathering: Gathering | undefined
  #ranks: readonly RankLine[] = []
  /** Where the first rank listens, of ranks that meet over the network. */
  #port = 0
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
    this.#now = () => deps.addon.clockNs()
    this.#clockBaseNs = this.#now()
    this.#relay = new Relay(deps.post)
    this.#local = new LocalRanks(deps.startRank, (rank, how) => this.#exited(rank, how))
  }

  async drive(): Promise<void> {
    const outcome = await this.#outcome().catch(async (error: unknown) => {
      // Ranks that a launcher started have nobody else to tell them.
      if (this.#request.seat !== undefined) await this.#gathering?.told()
      return problemOutcome(error)
    })
    await this.#dismiss(outcome)
    // Only now nobody makes it any more.
    this.#deps.addon.unlinkSegment(this.#segment)
    this.#deps.report({ type: 'ended', runId: this.#request.runId, ...outcome })
  }

  async #outcome(): Promise<Outcome> {
    const seated = await this.#gather()
    const quiet = new Promise<void>((resolve) => {
      this.#quiet = resolve
    })
    this.#ranks = seated.map((one) => new RankLine(one))
    for (const rank of this.#ranks) this.#listen(rank)
    const beats = setInterval(() => this.#beat(), BEAT_MS)
    try {
      await alignClocks(this.#ranks, this.#now, () => this.#isOver())
      if (!this.#isOver()) this.#startRank(0)
      await quiet
    } finally {
      clearInterval(beats)
      clearTimeout(this.#grace)
    }
    return this.#storeLost ?? (await this.#end())
  }

  #isOver(): boolean {
    return this.#cause !== undefined || this.#storeLost !== undefined || this.#stopping
  }

  /** Starts the ranks of this machine and waits for all. */
  async #gather(): Promise<readonly Seated[]> {
    const { addon } = this.#deps
    const { config, seat } = this.#request
    const [address, port] = seat === undefined ? ['127.0.0.1', 0] : [seat.address, seat.port]
    const token = seat === undefined ? randomBytes(16).toString('hex') : ''
    const assignment = { world: this.#world, token, config }
    const local = seat?.localRank === undefined ? {} : { localRank: seat.localRank }
    const own = ownGpu(addon, { ...local, rank: 0, config })
    const judge = (gpus: readonly RankGpu[]): GroupProblem | undefined =>
      own && gpuProblem(addon, config, own.cuda, gpus)
    // Ranks that a launcher starts say by themselves which GPUs they have, and are told what is wrong when they come.
    const early = seat === undefined && own !== undefined ? judge(gpusOfAll(config, own.cuda)) : undefined
    if (early !== undefined) throw early
    const first = helloOf(addon, { ...assignment, rank: 0, address, port }, own)
    const waitMs = GATHER_MS + (seat === undefined ? startMs(this.#world, addon.cpu().cores) : 0)
    this.#gathering = gather({
      ...{ address, port, first, waitMs },
      judge: (all) => apartProblem(config, all) ?? judge(all.flatMap(({ gpu }) => gpu ?? [])),
    })
    const bound = await this.#gathering.listening
    const ranks = seat === undefined ? Array.from({ length: this.#world }, (_, rank) => rank) : [0]
    for (const rank of ranks)
      this.#local.start({ ...assignment, ...local, rank, address: nearby(address), port: bound })
    return this.#gathering.complete
  }

  /** The process of a rank of this machine has ended; after its last words that is as it should be. */
  #exited(rank: number, how: string): void {
    const line = this.#ranks[rank]
    if (line !== undefined) this.#lose(line, how)
    else {
      const problem = new GroupProblem('ERR_ENGINE', `rank ${rank} ${how} before all ranks had come`)
      // A Ctrl-C that ended it before it could listen is on its way here as well.
      setTimeout(() => this.#gathering?.fail(problem), LEFT_MS)
    }
  }

  #listen(rank: RankLine): void {
    rank.line.onMessage((message) => {
      const parsed = fromRankSchema.safeParse(message)
      if (parsed.success) this.#take(rank, parsed.data)
      else this.#lose(rank, 'said something unknown', 'ERR_STATE')
    })
    rank.line.onClose(() => {
      // Of a process of this machine the system tells how it died.
      const lost = (): void => this.#lose(rank, 'died or lost its connection')
      if (this.#local.has(rank.rank)) setTimeout(lost, NOTICE_MS)
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
        rank.takeClock(message.ns)
        return
      case 'listens':
        this.#port = message.port
        return
      case 'stop':
        this.stop()
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
        if (this.#storeLost === undefined) this.#relay.take(rank, message)
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
    rank.giveUp()
    if (event.status === 'failed') this.#failedAt(rank, event)
    this.#settle()
  }

  /** The first rank makes the memory that the others open, or listens; the run has begun when all have come. */
  #beginNext({ rank }: RankLine): void {
    if (rank === 0) for (let other = 1; other < this.#world; other++) this.#startRank(other)
    const [first] = this.#ranks
    if (first?.manifest === undefined || this.#ranks.some(({ manifest }) => manifest === undefined)) return
    this.#deps.addon.unlinkSegment(this.#segment)
    if (this.#storeLost !== undefined) return
    this.#begun = true
    const { runId, bundle } = this.#request
    this.#deps.post({ type: 'begin', runId, bundle, manifest: this.#manifest(first.manifest) })
    this.#relay.open()
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
      ...(areApart(this.#ranks.map(({ hello }) => hello)) ? { network: this.#network() } : {}),
      timeSliced: sharesGpus(this.#ranks.flatMap(({ hello }) => hello.gpu ?? [])),
      clockBaseNs: this.#clockBaseNs + (rank.clock?.offsetNs ?? 0n),
      credit: Math.max(2 * MESSAGE_BYTES, Math.floor(CREDIT_BYTES / this.#world)),
      neighbours: this.#neighboursOf(rank),
    })
  }

  #neighboursOf({ hello }: RankLine): number {
    return this.#ranks.filter((other) => other.hello.system === hello.system).length - 1
  }

  #network(): { port: number; local: boolean } {
    return { port: this.#port, local: isLoopback(this.#request.seat?.address ?? '127.0.0.1') }
  }

  #manifest(first: Manifest): Manifest {
    const base = this.#clockBase.toISOString()
    return {
      ...first,
      devices: this.#devices(),
      createdAt: base,
      clock: { base, ...clocksOf(this.#ranks, first.clock.alignment) },
      processes: this.#ranks.map(({ hello }) => ({
        rank: hello.rank,
        host: hello.host,
        pid: hello.pid,
        ...(hello.localRank === undefined ? {} : { localRank: hello.localRank }),
        device: hello.device,
      })),
    }
  }

  /** Every device once, as the first rank on it describes it. */
  #devices(): Manifest['devices'] {
    const seen = new Set<string | undefined>()
    return this.#ranks.flatMap(({ hello, manifest }) => {
      const id = hello.gpu?.id
      if (seen.has(id)) return []
      seen.add(id)
      return manifest?.devices ?? []
    })
  }

  storeReply(message: unknown): void {
    takeStoreReply(message, this.#request.runId, {
      acknowledge: (reply) => this.#relay.acknowledge(reply),
      closed: ({ status }) => this.#closed({ status }),
      lost: (outcome) => this.loseStore(outcome),
    })
  }

  /** The store cannot go on: nothing could be kept of what the ranks do. */
  loseStore(outcome: Outcome): void {
    this.#storeLost ??= outcome
    this.#relay.abandon()
    this.#gathering?.fail(new GroupProblem(outcome.code ?? 'ERR_STORE', outcome.error ?? 'the store is gone'))
    for (const rank of this.#ranks) rank.giveUp()
    this.#closed(outcome)
    this.#settle()
  }

  stop(): void {
    if (this.#stopping) return
    this.#stopping = true
    this.#gathering?.fail(stopped())
    this.#limit(STOP_GRACE_MS, 'did not stop')
    this.#stopRanks()
  }

  #stopRanks(): void {
    for (const rank of this.#ranks) {
      if (!rank.started) rank.giveUp()
      else if (!rank.quiet) rank.line.post({ type: 'stop', keepStep: this.#cause !== undefined })
    }
    this.#settle()
  }

  /** A rank says that it failed: why the run ends, unless it only repeats that another has ended it. */
  #failedAt(rank: RankLine, { error = '', code = 'ERR_ENGINE' }: Pick<EndMessage, 'error' | 'code'>): void {
    const cause: Cause = { rank: rank.rank, status: 'failed', what: error, code }
    if (code !== 'ERR_ABANDONED') this.#fail(cause)
    // After a stop all ranks end each other.
    else if (!this.#stopping) setTimeout(() => this.#fail(cause), REASON_MS).unref()
  }

  /** A rank is not there any more. */
  #lose(rank: RankLine, what: string, code = 'ERR_ENGINE'): void {
    if (rank.gone) return
    rank.giveUp()
    if (rank.end === undefined) this.#fail({ rank: rank.rank, status: 'interrupted', what, code })
    this.#settle()
  }

  #fail(cause: Cause): void {
    if (this.#cause !== undefined || this.#storeLost !== undefined) return
    this.#cause = cause
    this.#limit(FAILURE_GRACE_MS, 'did not stop')
    // A pool that is full is so on every rank: each comes to that by itself, and the first one notes it.
    if (cause.code === 'ERR_POOL_FULL') this.#settle()
    else this.#stopRanks()
  }

  /** Ranks that have not ended within `ms` are given up. */
  #limit(ms: number, what: string): void {
    clearTimeout(this.#grace)
    this.#grace = setTimeout(() => {
      for (const rank of this.#ranks)
        if (!rank.quiet) {
          this.#cause ??= { rank: rank.rank, status: 'interrupted', what, code: 'ERR_ENGINE' }
          rank.giveUp()
        }
      this.#settle()
    }, ms)
  }

  #settle(): void {
    if (this.#ranks.every(({ quiet }) => quiet)) this.#quiet()
  }

  /** One sign of life to every rank, and one that is expected of it. */
  #beat(): void {
    for (const rank of this.#ranks) {
      if (rank.gone) continue
      rank.line.post({ type: 'beat' })
      const starts = rank.started && rank.manifest === undefined
      const most = starts ? missedBeatsAtStart(this.#neighboursOf(rank)) : MISSED_BEATS
      if (++rank.missed > most && !rank.quiet)
        this.#lose(rank, `has not answered for ${(most * BEAT_MS) / 1000} s`, 'ERR_ABSENT')
    }
  }

  /** Hands the rest to the store and waits for it to close the bundle. */
  async #end(): Promise<Outcome> {
    const outcome = this.#ending()
    if (!this.#begun) return outcome
    const { runId } = this.#request
    this.#deps.report({ type: 'phase', runId, phase: 'finishing', fraction: 1 })
    const between = await clockUncertainty(this.#ranks, this.#now)
    await this.#relay.settle()
    if (this.#storeLost !== undefined) return this.#storeLost
    const closed = new Promise<Outcome>((resolve) => {
      this.#closed = resolve
    })
    const ends = this.#ranks.flatMap(({ end }) => end ?? [])
    const kernelNote = ends.find((end) => end.kernelNote !== undefined)?.kernelNote
    this.#deps.post({
      type: 'end',
      runId,
      ...outcome,
      dropped: ends.reduce((sum, { dropped }) => sum + dropped, 0),
      captureNotes: ends.flatMap(({ captureNotes }) => captureNotes),
      ...(kernelNote === undefined ? {} : { kernelNote }),
      uncertaintyNs: ownUncertainty(this.#ranks) + between,
    })
    const answer = await closed
    return this.#cause === undefined || this.#storeLost !== undefined ? answer : outcome
  }

  /** How the ranks ended, all together. */
  #ending(): Pick<EndMessage, 'status' | 'error' | 'code'> {
    if (this.#cause !== undefined) {
      const { status, code } = this.#cause
      return { status, code, error: causeText(this.#cause, this.#world, this.#placeOf(this.#cause.rank)) }
    }
    const failed = this.#ranks.find(({ end }) => end?.status === 'failed')
    if (failed?.end !== undefined && !this.#stopping)
      return { status: 'failed', error: failed.end.error, code: failed.end.code }
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
    await this.#local.end()
  }
}

/** What many processes that start at once on few cores take longer. */
const startMs = (world: number, cores: number): number =>
  Math.round((Math.max(0, world - 4 * cores) / cores) * 250)

/** Where the ranks of this machine reach a leader that listens at `address`. */
const nearby = (address: string): string => (isLoopback(address) ? address : 'localhost')

const problemOutcome = (error: unknown): Outcome => {
  if (error instanceof GroupProblem && error.code === 'ERR_CANCELLED') return { status: 'stopped' }
  return {
    status: 'failed',
    error: error instanceof Error ? error.message : String(error),
    code: error instanceof GroupProblem ? error.code : 'ERR_ENGINE',
  }
}
