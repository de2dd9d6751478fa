import { connect, type Socket } from 'node:net'
import {
  type Assignment,
  BEAT_MS,
  GATHER_MS,
  MISSED_BEATS,
  missedBeatsAtStart,
  type Over,
  type ToRank,
  toRankSchema,
} from '../../app/protocol/ranks.ts'
import type { MeetingPoint, NativeAddon, NativeRun } from '../engine/addon.ts'
import { type LocalDriver, startRun } from '../engine/driver.ts'
import { helloOf } from './greeting.ts'
import { type OwnGpu, ownGpu } from './own-gpu.ts'
import { GroupProblem } from './problem.ts'
import { type SocketPort, socketPort } from './socket-port.ts'

const RETRY_MS = 100
/** How long the engine may take to stop: at first, and when nobody listens any more. */
const STOP_MS = 700
const LEAVE_MS = 1000

export interface MemberEnd {
  readonly over: Over
  /** The engine does not come back, so that the process can only be killed. */
  readonly stuck: boolean
}

/**
 * Runs one rank from its first message to its leader to the end of the run; `asked`: to stop it. `onQuiet` is called
 * before this process says nothing for a while, with how many signs of life may fail to come. Never rejects.
 */
export const runMember = async (
  addon: NativeAddon,
  assignment: Assignment,
  asked: AbortSignal,
  onQuiet: (beats: number) => void = () => {},
): Promise<MemberEnd> => {
  try {
    const gpu = ownGpu(addon, assignment)
    const socket = await connected(assignment, asked)
    if (socket === undefined) return { over: { type: 'over', status: 'stopped' }, stuck: false }
    const member = new Member(addon, assignment, gpu, socket, onQuiet)
    if (asked.aborted) member.askToStop()
    else asked.addEventListener('abort', () => member.askToStop())
    return await member.end
  } catch (error) {
    const code = error instanceof GroupProblem ? error.code : 'ERR_ABSENT'
    const over = failed(error instanceof Error ? error.message : String(error), code)
    return { over, stuck: false }
  }
}

const failed = (error: string, code: string): Over => ({ type: 'over', status: 'failed', error, code })

/** Tries until rank 0 listens, which is then told if this rank was asked to stop; undefined where nobody is to be told. */
const connected = async (
  { rank, address, port }: Assignment,
  asked: AbortSignal,
): Promise<Socket | undefined> => {
  const deadline = performance.now() + GATHER_MS
  for (;;) {
    const tried = await attempt(address, port, deadline - performance.now())
    if (typeof tried !== 'string') return tried
    if (asked.aborted) return undefined
    if (performance.now() + RETRY_MS >= deadline)
      throw new Error(
        `rank ${rank} found no rank 0 at ${address}:${port} within ${GATHER_MS / 1000} s (${tried})`,
      )
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
  }
}

/** The connection, or why there is none. */
const attempt = (address: string, port: number, ms: number): Promise<Socket | string> =>
  new Promise((resolve) => {
    const socket = connect({ host: address, port })
    const give = (why: string): void => {
      clearTimeout(timer)
      socket.destroy()
      resolve(why)
    }
    const timer = setTimeout(() => give('it does not answer'), Math.max(ms, 1))
    socket.once('error', (error: NodeJS.ErrnoException) => give(error.code ?? error.message))
    socket.once('connect', () => {
      // Where nobody listens, a socket that happens to get that very port as its own is connected to itself.
      if (socket.localPort === port && socket.localAddress === socket.remoteAddress) {
        give('ECONNREFUSED')
        return
      }
      clearTimeout(timer)
      socket.removeAllListeners('error')
      resolve(socket)
    })
  })

/** One rank at work: obeys its leader, and gives up when that is gone. */
class Member {
  readonly end: Promise<MemberEnd>
  readonly #addon: NativeAddon
  readonly #assignment: Assignment
  readonly #gpu: OwnGpu | undefined
  readonly #line: SocketPort
  readonly #onQuiet: (beats: number) => void
  /** As this rank has reached it, which the name that it was told may not say. */
  readonly #leaderAddress: string
  readonly #beats: NodeJS.Timeout
  #ended: (end: MemberEnd) => void = () => {}
  #driver: LocalDriver | undefined
  #run: NativeRun | undefined
  /** Of the memory that this rank makes. */
  #segment: string | undefined
  #missed = 0

  constructor(
    addon: NativeAddon,
    assignment: Assignment,
    gpu: OwnGpu | undefined,
    socket: Socket,
    onQuiet: (beats: number) => void,
  ) {
    const line = socketPort(socket)
    this.#addon = addon
    this.#assignment = assignment
    this.#gpu = gpu
    this.#line = line
    this.#onQuiet = onQuiet
    this.#leaderAddress = socket.remoteAddress ?? ''
    this.end = new Promise((resolve) => {
      this.#ended = resolve
    })
    this.#beats = setInterval(() => this.#beat(), BEAT_MS)
    line.onClose(() => this.#leave(failed('rank 0 is gone', 'ERR_ABSENT')))
    line.onMessage((message) => {
      const parsed = toRankSchema.safeParse(message)
      if (parsed.success) this.#obey(parsed.data)
      else this.#leave(failed('rank 0 said something unknown', 'ERR_STATE'))
    })
    line.postText(helloOf(addon, assignment, gpu))
  }

  /** The leader stops all ranks. */
  askToStop(): void {
    this.#line.post({ type: 'stop' })
  }

  #obey(message: ToRank): void {
    this.#missed = 0
    switch (message.type) {
      case 'start':
        this.#start(message)
        return
      case 'reply':
        this.#driver?.storeReply(message.reply)
        return
      case 'stop':
        // First where everybody is, as long as this rank's eyes are open.
        this.#tellPlaces()
        if (message.keepStep) this.#driver?.halt()
        else this.#driver?.stop()
        setTimeout(() => this.#driver?.abandon(), STOP_MS).unref()
        return
      case 'clock':
        this.#line.post({ type: 'clock', ns: this.#addon.clockNs() })
        return
      case 'beat':
        return
      case 'over':
        this.#leave(message)
        return
    }
  }

  #start(message: Extract<ToRank, { type: 'start' }>): void {
    const { runId, name, credit, timeSliced, network, neighbours, segment, creates, clockBaseNs } = message
    const { rank, config } = this.#assignment
    const at = network === undefined ? {} : { network: this.#meetingPoint(network) }
    const gpu = this.#gpu?.index ?? 0
    const { version, cpu, cuda, predictMemory, createRun } = this.#addon
    if (creates) this.#segment = segment
    const ofRank: NativeAddon['createRun'] = (engineConfig) => {
      this.#onQuiet(missedBeatsAtStart(neighbours))
      this.#run = createRun(engineConfig, { rank, segment, creates, clockBaseNs, gpu, ...at })
      if (creates && network !== undefined) this.#line.post({ type: 'listens', port: this.#run.port() })
      return this.#run
    }
    this.#driver = startRun(
      {
        ...{ runId, bundle: '', name, config, gpu, timeSliced },
        device: this.#gpu === undefined ? 'cpu' : 'cuda',
      },
      {
        addon: { version, cpu, cuda, predictMemory, createRun: ofRank },
        post: (message) => {
          // Where everybody was, before nobody asks any more.
          if (message.type === 'end') this.#tellPlaces()
          this.#line.post({ type: 'trace', message })
        },
        report: (event) => this.#line.post({ type: 'event', event }),
        credit,
      },
    )
  }

  /** The first rank is on its leader's machine, so the others find it where they have found that. */
  #meetingPoint({ port, local }: { port: number; local: boolean }): MeetingPoint {
    return { address: port > 0 || local ? this.#leaderAddress : '', port }
  }

  #beat(): void {
    this.#tellPlaces()
    if (++this.#missed > 2 * MISSED_BEATS) this.#leave(failed('rank 0 does not answer', 'ERR_ABSENT'))
  }

  #tellPlaces(): void {
    this.#line.post({ type: 'beat', places: this.#run?.places() ?? [] })
  }

  /** The run is over, or its leader gone: nobody listens any more. */
  async #leave(over: Over): Promise<void> {
    clearInterval(this.#beats)
    this.#line.close()
    // A leader that is gone may not have come to it.
    if (this.#segment !== undefined) this.#addon.unlinkSegment(this.#segment)
    this.#driver?.storeGone()
    const done = (this.#driver?.done ?? Promise.resolve()).then(() => false)
    const late = new Promise<boolean>((resolve) => setTimeout(() => resolve(true), LEAVE_MS))
    this.#ended({ over, stuck: await Promise.race([done, late]) })
  }
}
