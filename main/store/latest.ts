interface Kept<V> {
  readonly answer: Promise<V>
  readonly work: AbortController
  /** Who waits for it; endless where one of them does not say when it ceases to. */
  waiting: number
  isDone: boolean
  /** 0 until it is there. */
  size: number
}

/** What answers may hold together, counted by `sizeOf`; the latest one stays, however large it is. */
interface Room<V> {
  readonly most: number
  readonly sizeOf: (answer: V) => number
}

/**
 * Keeps the answers to the latest `count` different questions, fewer where there is no `room` for them. What was refused is
 * asked again. Work ends when nobody waits for it any more.
 */
export class Latest<K, V> {
  readonly #count: number
  readonly #room: Room<V> | undefined
  readonly #kept = new Map<K, Kept<V>>()

  constructor(count: number, room?: Room<V>) {
    this.#count = count
    this.#room = room
  }

  /** The answer that is kept for `key`, else that of `make`; those who ask meanwhile wait for the same, each until its `signal`. */
  of(key: K, make: (unwanted: AbortSignal) => Promise<V>, signal?: AbortSignal): Promise<V> {
    const kept = this.#kept.get(key) ?? this.#begin(key, make)
    this.#kept.delete(key)
    this.#kept.set(key, kept)
    this.#trim()
    if (signal !== undefined) return this.#until(signal, key, kept)
    kept.waiting = Number.POSITIVE_INFINITY
    return kept.answer
  }

  #begin(key: K, make: (unwanted: AbortSignal) => Promise<V>): Kept<V> {
    const work = new AbortController()
    const kept: Kept<V> = { answer: make(work.signal), work, waiting: 0, isDone: false, size: 0 }
    kept.answer.then(
      (answer) => {
        kept.isDone = true
        kept.size = this.#room?.sizeOf(answer) ?? 0
        this.#trim()
      },
      () => this.#forget(key, kept),
    )
    return kept
  }

  #trim(): void {
    let size = 0
    for (const kept of this.#kept.values()) size += kept.size
    for (const [oldest, kept] of this.#kept) {
      const hasRoom = this.#kept.size <= this.#count && size <= (this.#room?.most ?? Number.POSITIVE_INFINITY)
      if (hasRoom || this.#kept.size === 1) return
      this.#kept.delete(oldest)
      size -= kept.size
    }
  }

  #forget(key: K, kept: Kept<V>): void {
    if (this.#kept.get(key) === kept) this.#kept.delete(key)
  }

  #until(signal: AbortSignal, key: K, kept: Kept<V>): Promise<V> {
    kept.waiting++
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        reject(signal.reason)
        kept.waiting--
        if (kept.waiting > 0 || kept.isDone) return
        // Whoever asks from now on must not get the answer of work that was ended.
        this.#forget(key, kept)
        kept.work.abort()
      }
      if (signal.aborted) return leave()
      signal.addEventListener('abort', leave, { once: true })
      kept.answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave))
    })
  }
}
