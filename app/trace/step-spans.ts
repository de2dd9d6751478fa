/** A span of one step, of a stage that contains no others; times in ns on the clock of the run. */
export interface StepSpan {
  readonly rank: number
  /** Code of the stage. */
  readonly stage: number
  readonly layer: number
  readonly startNs: number
  readonly endNs: number
  /** Number of the collective; -1 for none. */
  readonly collective: number
  /** When the rank entered the collective, and when the last one did; the start where it is none. */
  readonly enterNs: number
  readonly lastEnterNs: number
}

/** Waiting for the last rank at the beginning of a collective; 0 elsewhere. */
export const waitOfSpan = ({ collective, enterNs, lastEnterNs }: StepSpan): number =>
  collective < 0 ? 0 : Math.max(0, lastEnterNs - enterNs)
