import type { ChildProcess } from 'node:child_process'

const KILLED = 'SIGKILL, by somebody or by the system when memory ran out'

export interface ChildEnd {
  /** `died (SIGSEGV)`, or `could not be started: ...`. */
  readonly how: string
  /** The line of its stderr that says why, which is where a native crash speaks; empty when it wrote nothing. */
  readonly words: string
}

/** Settles when a child process whose stderr is a pipe has ended. */
export const childEnd = async (child: ChildProcess): Promise<ChildEnd> => {
  let words = ''
  // Undefined, whatever its type says, when the system had no file descriptor left for the process.
  const errors = child.stderr ?? null
  errors?.setEncoding('utf8').on('data', (text: string) => {
    words = (words + text).slice(-4096)
  })
  // Not the child's `close`: it does not come when this side has disconnected.
  const silent = new Promise<void>((resolve) => {
    if (errors === null) resolve()
    else errors.on('close', resolve)
  })
  const how = await new Promise<string>((resolve) => {
    child.on('error', (error) => resolve(`could not be started: ${error.message}`))
    child.on('exit', (code, signal) =>
      resolve(`died (${signal === null ? `exit code ${code}` : signal === 'SIGKILL' ? KILLED : signal})`),
    )
  })
  await silent
  // A signal that both processes got is heard of later than that it ended this one.
  await new Promise((next) => setImmediate(next))
  return { how, words: reasonIn(words) }
}

/** Node itself ends with its version, below the error and where it was thrown. */
const reasonIn = (words: string): string => {
  const lines = words.trim().split('\n')
  const last = lines.at(-1) ?? ''
  return /^Node\.js v/.test(last) ? (lines.findLast((line) => /^\w*Error\b.*:/.test(line)) ?? last) : last
}
