/** Keeps the answers to the latest `count` different questions. What was refused is asked again. */
export class Latest<K, V> {
  readonly #count: number
  readonly #kept = new Map<K, Promise<V>>()

  constructor(count: number) {
    this.#count = count
  }

  /** The answer that is kept for `key`, else that of `make`; those who ask meanwhile wait for the same. */
  of(key: K, make: () => Promise<V>): Promise<V> {
    const answer = this.#kept.get(key) ?? make()
    this.#kept.delete(key)
    this.#kept.set(key, answer)
    answer.catch(() => {
      if (this.#kept.get(key) === answer) this.#kept.delete(key)
    })
    for (const [oldest] of this.#kept) {
      if (this.#kept.size <= this.#count) break
      this.#kept.delete(oldest)
    }
    return answer
  }
}
