import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import { type Assignment, type Over, overSchema, quietSchema } from '../../app/protocol/ranks.ts'
import { childEnd } from '../process/child-end.ts'
import { watchSilence } from '../process/silence.ts'

/** The process of one rank. */
export interface RankProcess {
  /** Settles when it has ended: with what it said at its end, else how it died. */
  readonly ended: Promise<{ readonly over?: Over; readonly how: string }>
  /** Asks it to see to it that the run is stopped. */
  stop(): void
  kill(): void
}

/** Starts it; it ends by itself when this process does. `distDir` holds the built scripts. */
export const startRankProcess = (distDir: string, assignment: Assignment): RankProcess => {
  const child = fork(join(distDir, 'rank-host.js'), [], {
    serialization: 'advanced',
    // Nothing that a library prints may get into what the command prints.
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    execArgv: [],
  })
  let over: Over | undefined
  const silence = watchSilence(() => child.kill('SIGKILL'))
  child.on('message', (message) => {
    silence.heard()
    const quiet = quietSchema.safeParse(message).data
    if (quiet !== undefined) silence.allow(quiet.beats)
    else if (message !== ALIVE) over = overSchema.safeParse(message).data
  })
  // No channel, whatever its type says, when the system had no file descriptor left for it.
  child.send?.(assignment, () => {})
  const ended = ending(child).then((died) => {
    const how = silence.release() ?? died
    return { how, ...(over === undefined ? {} : { over }) }
  })
  return { ended, stop: () => child.kill('SIGTERM'), kill: () => child.kill('SIGKILL') }
}

/** Sign of life of a rank to the process that started it. */
export const ALIVE = 'alive'

const ending = async (child: ChildProcess): Promise<string> => {
  const { how, words } = await childEnd(child)
  return words === '' ? how : `${how}: ${words}`
}
