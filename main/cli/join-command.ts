import type { Seat } from '../../app/protocol/engine.ts'
import type { RunConfig } from '../../app/run/config.ts'
import { startRankProcess } from '../ranks/rank-process.ts'
import { type Launched, launchedAs } from '../ranks/seat.ts'
import { badInput, CliFailure, EXIT, messageOf } from './failure.ts'
import type { CommandResult } from './run-command.ts'

/** The place that a launcher gave this process in a run of `config`; undefined where there is none. */
export const ownSeat = (config: RunConfig): Seat | undefined => {
  const launched = launchedHere()
  const { dcpSize } = config.parallel
  if (launched === undefined || launched.seat.world === dcpSize) return launched?.seat
  const { seat, rankName, worldName } = launched
  const [ranks, remedy] =
    seat.world === 1
      ? ['1 rank', `; unset ${rankName} to start all ranks from here`]
      : [`${seat.world} ranks`, '']
  throw badInput(`${worldName} says ${ranks}, but the configuration has parallel.dcpSize ${dcpSize}${remedy}`)
}

/** What a launcher that starts several commands should know of runs that compute all ranks; undefined without one. */
export const launcherNote = (): string | undefined => {
  const launched = launchedOr()
  if (launched === undefined || launched.seat.world === 1) return undefined
  const { seat, worldName } = launched
  return (
    `${worldName} says ${seat.world} ranks, but each of these commands computes all ranks of a run of its own; ` +
    'with --ranks processes each is one rank of one run'
  )
}

/** Nothing where the environment is at fault: this run does not follow it. */
const launchedOr = (): Launched | undefined => {
  try {
    return launchedAs()
  } catch {
    return undefined
  }
}

const launchedHere = (): Launched | undefined => {
  try {
    return launchedAs()
  } catch (error) {
    throw badInput(messageOf(error))
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Runs one rank other than the first, which alone knows the bundle and prints the summary. */
export const joinRun = async (distDir: string, seat: Seat, config: RunConfig): Promise<CommandResult> => {
  // The first signal stops the run on all ranks, the second one ends this rank at once.
  let asked = false
  const onSignal = (): void => {
    if (asked) {
      rank.kill()
      process.exit(EXIT.interrupted)
    }
    asked = true
    rank.stop()
  }
  // Before the process is there, since whoever sees it may send one at once.
  for (const signal of SIGNALS) process.on(signal, onSignal)
  const rank = startRankProcess(distDir, { ...seat, token: '', config })
  try {
    const { over, how } = await rank.ended
    if (over?.status === 'complete') return { exitCode: EXIT.fine, stdout: '' }
    // One that had only just begun ends by the signal itself.
    if (over === undefined && asked) return { exitCode: EXIT.interrupted, stdout: '' }
    if (over === undefined) throw new CliFailure(EXIT.engineFailed, `rank ${seat.rank} ${how}`)
    if (over.status === 'stopped' || over.code === 'ERR_CANCELLED')
      return { exitCode: EXIT.interrupted, stdout: '' }
    throw new CliFailure(
      over.code === 'ERR_CONFIG' ? EXIT.badInput : EXIT.engineFailed,
      `rank ${seat.rank} ended: ${over.error ?? over.status}`,
    )
  } finally {
    for (const signal of SIGNALS) process.off(signal, onSignal)
  }
}
