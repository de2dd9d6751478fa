// @ts-check
/** What set-up says: one line a step with its time, nothing where nothing was to do. */

/** A failure that a person can act on: its message is all that is shown. */
export class SetupError extends Error {
  /** @param {string} message @param {number} [exitCode] */
  constructor(message, exitCode = 2) {
    super(message)
    this.exitCode = exitCode
  }
}

/**
 * Runs `work` under a name and says how long it took.
 * @template T
 * @param {string} name
 * @param {() => Promise<T> | T} work
 * @returns {Promise<T>}
 */
export const step = async (name, work) => {
  const begin = performance.now()
  process.stderr.write(`dcpscope: ${name} ...\n`)
  const result = await work()
  process.stderr.write(`dcpscope: ${name}: done in ${((performance.now() - begin) / 1000).toFixed(1)} s\n`)
  return result
}

const EXIT_CODES = /** @type {const} */ ({ SIGINT: 130, SIGTERM: 143, SIGHUP: 129 })

/**
 * Runs `work` and then `tidy`, which a signal that ends the script does not skip.
 * @template T
 * @param {() => void} tidy
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export const tidied = async (tidy, work) => {
  const ended = Object.entries(EXIT_CODES).map(([signal, code]) => {
    const end = () => {
      tidy()
      process.exit(code)
    }
    process.once(signal, end)
    return () => process.off(signal, end)
  })
  try {
    return await work()
  } finally {
    for (const forget of ended) forget()
    tidy()
  }
}

/** @param {string} line */
export const say = (line) => process.stderr.write(`dcpscope: ${line}\n`)

/**
 * Runs a script's main function; a SetupError becomes one line, anything else keeps its stack.
 * @param {() => Promise<number>} main
 */
export const runScript = (main) => {
  main().then(
    (code) => process.exit(code),
    (error) => {
      if (error instanceof SetupError) {
        say(error.message)
        process.exit(error.exitCode)
      }
      process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`)
      process.exit(3)
    },
  )
}

/**
 * Answers `--help` and refuses arguments that nobody reads.
 * @param {string} help
 * @param {readonly string[]} args
 * @param {boolean} [takesArguments]
 */
export const plainArguments = (help, args, takesArguments = false) => {
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(`${help.trim()}\n`)
    process.exit(0)
  }
  if (!takesArguments && args.length > 0) throw new SetupError(`unknown argument ${args[0]}; see --help`)
}
