import type { Part } from './bundle-files.ts'
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
/** Blocks that stay in memory: those about the step that is looked at, of the questions of a view. */
const OPEN_BLOCKS = 6

/** The steps that are read with `step`, of a table with about `rowsPerStep` new rows in each. */
export const blockOf = (step: number, rowsPerStep: number): StepRange => {
  const size = Math.max(1, Math.min(MOST_STEPS, Math.floor(MOST_ROWS / Math.max(1, rowsPerStep))))
  const first = Math.floor(step / size) * size
  return { first, last: first + size - 1 }
}

export interface Block {
  /** What is asked, besides the steps. */
  readonly question: string
  readonly step: number
  readonly rowsPerStep: number
}

/**
 * Reads the steps about the one that is asked for together with it and keeps them: a person goes from step to step, and a
 * query costs the same for one of them as for many. Parts never change; where some were added, the block is read anew.
 */
export class StepBlocks<T> {
  readonly #kept = new Latest<string, T>(OPEN_BLOCKS)

  /** `partsOf` gives the parts that have rows of the steps; `read` what they say. */
  async of(
    { question, step, rowsPerStep }: Block,
    partsOf: (range: StepRange) => Promise<readonly Part[]>,
    read: (parts: readonly Part[], range: StepRange, unwanted: AbortSignal) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    const kept = (range: StepRange, parts: readonly Part[]): Promise<T> =>
      this.#kept.of(
        `${question} ${range.first} ${range.last} ${parts.length}`,
        (unwanted) => read(parts, range, unwanted),
        signal,
      )
    const range = blockOf(step, rowsPerStep)
    try {
      return await kept(range, await partsOf(range))
    } catch (error) {
      const alone = { first: step, last: step }
      if (signal?.aborted === true || range.first === range.last) throw error
      // A part of steps beside this one may be damaged.
      return kept(alone, await partsOf(alone))
    }
  }
}
