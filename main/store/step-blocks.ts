import { Latest } from './latest.ts'

/** Steps from `first` to `last`, both in. */
export interface StepRange {
  readonly first: number
  readonly last: number
}

/** Steps that are read together at most. */
const MOST_STEPS = 64
/** Rows that are read together at most, about. */
const MOST_ROWS = 4096
/** Ranges that stay in memory: those about the step that is looked at, of the questions of a view. */
const OPEN_RANGES = 6
/** Steps from the one that was asked for before to the one that is asked for, where a person goes from step to step. */
const NEAR = 2

/** The steps that are read with `step` where one goes from step to step, of a table with about `rowsPerStep` new rows in each. */
export const blockOf = (step: number, rowsPerStep: number): StepRange => {
  const size = Math.max(1, Math.min(MOST_STEPS, Math.floor(MOST_ROWS / Math.max(1, rowsPerStep))))
  const first = Math.floor(step / size) * size
  return { first, last: first + size - 1 }
}

/** A step with the one before it, which is asked for with it to be compared. */
const pairOf = (step: number): StepRange => ({ first: Math.max(0, step - 1), last: step })

export interface StepQuestion {
  /** What is asked, besides the step. */
  readonly question: string
  readonly step: number
  readonly rowsPerStep: number
  /** Parts of the table now: they never change, but there may be more. */
  readonly parts: number
}

/**
 * Reads steps beside the one that is asked for together with it and keeps them: a query costs about the same for one of them as
 * for many. Where a person goes from step to step many are read, elsewhere two.
 */
export class StepBlocks<T> {
  readonly #kept = new Latest<string, T>(OPEN_RANGES)
  readonly #asked = new Map<string, number>()

  async of(
    { question, step, rowsPerStep, parts }: StepQuestion,
    read: (range: StepRange, unwanted: AbortSignal) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    const before = this.#asked.get(question) ?? Number.NEGATIVE_INFINITY
    this.#asked.set(question, step)
    const keyOf = ({ first, last }: StepRange): string => `${question} ${first} ${last} ${parts}`
    const of = (range: StepRange): Promise<T> =>
      this.#kept.of(keyOf(range), (unwanted) => read(range, unwanted), signal)
    const block = blockOf(step, rowsPerStep)
    const known = [block, pairOf(step), pairOf(step + 1)].find((range) => this.#kept.has(keyOf(range)))
    const isAlone = block.first === block.last
    const range = known ?? (Math.abs(step - before) <= NEAR || isAlone ? block : pairOf(step))
    try {
      return await of(range)
    } catch (error) {
      if (signal?.aborted === true || range.first === range.last) throw error
      // A part of steps beside this one may be damaged.
      return of({ first: step, last: step })
    }
  }
}
