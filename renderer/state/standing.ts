/** What came of asking; `mark` is that of the asking. */
export type Outcome<R> =
  | { readonly mark: string; readonly data: R }
  | { readonly mark: string; readonly error: unknown }

/** A question that somebody waits for. */
export interface Standing {
  /** The answer may be another with `mark`. */
  again(mark: string): void
  /** Nobody waits any more. */
  stop(): void
}

/**
 * Asks at once, and again with each new mark, but never before the answer that is on its way: of a run that goes on
 * everything is asked each second, and what takes longer would never be answered and be worked on several times at once.
 */
export const standing = <R>(
  mark: string,
  send: (signal: AbortSignal) => Promise<R>,
  take: (outcome: Outcome<R>) => void,
): Standing => {
  const unwanted = new AbortController()
  let newest = mark
  let asked: string | null = null
  const ask = (): void => {
    const now = newest
    asked = now
    send(unwanted.signal).then(
      (data) => settle({ mark: now, data }),
      (error: unknown) => settle({ mark: now, error }),
    )
  }
  const settle = (outcome: Outcome<R>): void => {
    if (unwanted.signal.aborted) return
    take(outcome)
    asked = null
    if (newest !== outcome.mark) ask()
  }
  ask()
  return {
    again: (next) => {
      const isNew = next !== newest
      newest = next
      if (isNew && asked === null && !unwanted.signal.aborted) ask()
    },
    stop: () => unwanted.abort(),
  }
}
