/**
 * What kept a sweep from being measured: its bundle, that none of its points can be measured, the engine, or that it was
 * stopped before there was anything to keep.
 */
export type SweepProblem = 'bundle' | 'points' | 'engine' | 'stopped'

/** Its message says what happened and leaves out who asked for the sweep. */
export class SweepFailure extends Error {
  readonly problem: SweepProblem

  constructor(problem: SweepProblem, message: string) {
    super(message)
    this.problem = problem
  }
}
