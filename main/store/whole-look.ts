/** So much longer than a look took is its answer good enough for a bundle that grows. */
const REST = 10

interface Sight {
  /** What stands on disk: another text where it has changed. */
  readonly version: string
  readonly growing: boolean
}

interface Seen<T> {
  readonly version: string
  readonly answer: Promise<T>
  /** When it came, and how long it took; undefined while it is on its way. */
  done: { readonly at: number; readonly took: number } | undefined
}

/**
 * What takes a look at all of a bundle, and is asked for again and again. It is looked at once for what stands on disk. While
 * a run goes on that changes every second, and the look takes longer and longer: then an answer may be a little old, so that
 * looking takes a small part of the time and is never behind.
 */
export class WholeLook<T> {
  readonly #look: () => Promise<T>
  readonly #now: () => number
  #seen: Seen<T> | undefined

  constructor(look: () => Promise<T>, now: () => number = () => performance.now()) {
    this.#look = look
    this.#now = now
  }

  answer({ version, growing }: Sight): Promise<T> {
    const seen = this.#seen
    if (seen !== undefined && (seen.version === version || (growing && this.#isRecent(seen))))
      return seen.answer
    return this.#lookNow(version)
  }

  #isRecent({ done }: Seen<T>): boolean {
    return done === undefined || this.#now() - done.at < REST * done.took
  }

  #lookNow(version: string): Promise<T> {
    const began = this.#now()
    const seen: Seen<T> = { version, answer: this.#look(), done: undefined }
    this.#seen = seen
    seen.answer.then(
      () => {
        const at = this.#now()
        seen.done = { at, took: at - began }
      },
      () => {
        if (this.#seen === seen) this.#seen = undefined
      },
    )
    return seen.answer
  }
}
