import type { TraceMessage } from '../../app/protocol/engine.ts'
import type { Hello } from '../../app/protocol/ranks.ts'
import type { Manifest } from '../../app/trace/manifest.ts'
import type { Offset } from './align.ts'
import type { Seated } from './gather.ts'
import type { SocketPort } from './socket-port.ts'

/** How long a rank may take to say what time it is. */
const CLOCK_MS = 1000

/** A rank as its leader sees it. */
export class RankLine {
  readonly rank: number
  readonly hello: Hello
  readonly line: SocketPort
  started = false
  /** Of its part of the run, once that has begun. */
  manifest: Manifest | undefined
  /** Its last words on the run. */
  end: Extract<TraceMessage, { type: 'end' }> | undefined
  /** Signs of life that have not come in a row. */
  missed = 0
  /** Where it and the others were when it last said so. */
  places: readonly string[] = []
  /** How its clock stands to the leader's, where it is another one. */
  clock: Offset | undefined
  #gone = false
  #tellClock: (ns: bigint | undefined) => void = () => {}

  constructor({ hello, line }: Seated) {
    this.rank = hello.rank
    this.hello = hello
    this.line = line
  }

  /** It is not there any more, or does not answer. */
  get gone(): boolean {
    return this.#gone
  }

  /** Whether nothing more is to come of it. */
  get quiet(): boolean {
    return this.#gone || this.end !== undefined
  }

  giveUp(): void {
    this.#gone = true
    this.#tellClock(undefined)
  }

  /** Asks for the time on its clock. Rejects when it is lost or says nothing. */
  readClock(): Promise<bigint> {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => this.#tellClock(undefined), CLOCK_MS)
      this.#tellClock = (ns) => {
        clearTimeout(late)
        if (ns === undefined) reject(new Error('the rank is lost'))
        else resolve(ns)
      }
      if (this.#gone) this.#tellClock(undefined)
      else this.line.post({ type: 'clock' })
    })
  }

  /** The answer. */
  takeClock(ns: bigint): void {
    this.#tellClock(ns)
  }
}
