export { messageOf } from '../process/message-of.ts'

/** Exit codes of every command. */
export const EXIT = { fine: 0, no: 1, badInput: 2, engineFailed: 3, interrupted: 130 } as const
export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** Ends a command with one line on stderr and this exit code. */
export class CliFailure extends Error {
  readonly exitCode: ExitCode

  constructor(exitCode: ExitCode, message: string) {
    super(message)
    this.exitCode = exitCode
  }
}

export const badInput = (message: string): CliFailure => new CliFailure(EXIT.badInput, message)

/** Problems that one line names. */
const MOST_NAMED = 3

/** One line of many problems: the first ones, and how many there are behind them. */
export const badInputs = (messages: readonly string[]): CliFailure => {
  const more = messages.length - MOST_NAMED
  const rest = more <= 0 ? '' : `; and ${more} more ${more === 1 ? 'problem' : 'problems'}`
  return badInput(`${messages.slice(0, MOST_NAMED).join('; ')}${rest}`)
}
