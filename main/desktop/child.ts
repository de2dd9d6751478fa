/** How a child process came to its end, as far as the platform tells. */
export type Death =
  /** Ended by itself or with a JavaScript error. */
  | { readonly how: 'exit'; readonly code: number }
  | { readonly how: 'killed'; readonly code: number }
  | { readonly how: 'crashed'; readonly code: number }
  | { readonly how: 'memory' }
  | { readonly how: 'launch' }

/** A child process as the supervisor sees it; P is one end of a channel that can be sent along. */
export interface Child<P> {
  /** Undefined until it runs and after it is gone. */
  pid(): number | undefined
  post(message: unknown, ports?: readonly P[]): void
  onMessage(listener: (message: unknown) => void): void
  /** Called once, whatever the cause. */
  onGone(listener: (death: Death) => void): void
  /** Ends it at once, also when it hangs. */
  kill(): void
  /** Last line that it wrote to stderr, '' when none. */
  lastWords(): string
}

export const PROCESS_NAMES = ['engine', 'store'] as const
export type ProcessName = (typeof PROCESS_NAMES)[number]
/** Also those that come and go with their work. */
export type ForkName = ProcessName | 'diagnosis' | 'sweep'

/** Forks processes and makes channels. */
export interface Forge<P> {
  fork(name: ForkName): Child<P>
  channel(): [P, P]
}

/** What Electron's `child-process-gone` tells. */
export interface Gone {
  readonly reason: string
  readonly exitCode: number
}

/**
 * Death by the exit code of `exit` and, where there was one, the details of `child-process-gone`: only these tell a
 * crash (after SIGSEGV `exit` says 0), and after an uncaught error there are none.
 */
export const deathOf = (code: number, gone: Gone | undefined): Death => {
  switch (gone?.reason) {
    case 'killed':
      return { how: 'killed', code: gone.exitCode }
    case 'crashed':
      return { how: 'crashed', code: gone.exitCode }
    case 'oom':
      return { how: 'memory' }
    case 'launch-failed':
    case 'integrity-failure':
      return { how: 'launch' }
    default:
      return { how: 'exit', code: gone?.exitCode ?? code }
  }
}

/** What happened, as one sentence. */
export const deathSentence = (name: ForkName, death: Death): string => {
  switch (death.how) {
    case 'exit':
      return `The ${name} process ended unexpectedly (exit code ${death.code}).`
    case 'killed':
      return `The ${name} process was killed (signal ${death.code}).`
    case 'crashed':
      return `The ${name} process crashed (code ${death.code}).`
    case 'memory':
      return `The ${name} process ran out of memory.`
    case 'launch':
      return `The ${name} process could not be started.`
  }
}
