import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import { type Assignment, type Over, overSchema } from '../../app/protocol/ranks.ts'
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
    if (message !== ALIVE) over = overSchema.safeParse(message).data
  })
  child.send(assignment, () => {})
  const ended = ending(child).then((died) => {
    const how = silence.release() ?? died
    return { how, ...(over === undefined ? {} : { over }) }
  })
  return { ended, stop: () => child.kill('SIGTERM'), kill: () => child.kill('SIGKILL') }
}

/** Sign of life of a rank to the process that started it. */
export const ALIVE = 'alive'

const KILLED = 'SIGKILL, by somebody or by the system when memory ran out'

const ending = async (child: ChildProcess): Promise<string> => {
  let words = ''
  // Undefined, whatever its type says, when the system had no file descriptor left for the process.
  const errors = child.stderr ?? null
  errors?.setEncoding('utf8').on('data', (text: string) => {
    words = (words + text).slice(-4096)
  })
  const how = await new Promise<string>((resolve) => {
    child.on('error', (error) => resolve(`could not be started: ${error.message}`))
    child.on('exit', (code, signal) =>
      resolve(`died (${signal === null ? `exit code ${code}` : signal === 'SIGKILL' ? KILLED : signal})`),
    )
  })
  // What it wrote last may still be on its way.
  await new Promise((resolve) => setImmediate(resolve))
  const lastLine = words.trim().split('\n').at(-1) ?? ''
  return lastLine === '' ? how : `${how}: ${lastLine}`
}
