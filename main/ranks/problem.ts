/** Why ranks do not make a group; `code` as in engine events. */
export class GroupProblem extends Error {
  readonly code: string
  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

/** The problem of a run that somebody has stopped. */
export const stopped = (): GroupProblem => new GroupProblem('ERR_CANCELLED', 'the run was stopped')
