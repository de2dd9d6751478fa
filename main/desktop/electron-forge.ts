import { join } from 'node:path'
import { app, MessageChannelMain, type MessagePortMain, type UtilityProcess, utilityProcess } from 'electron'
import { type Child, type Death, deathOf, type Forge, type ForkName, type Gone } from './child.ts'

const SCRIPTS: Readonly<Record<ForkName, string>> = {
  engine: 'engine-host.js',
  store: 'store-host.js',
  diagnosis: 'diagnosis-host.js',
  sweep: 'sweep-host.js',
}
/** `exit`, `child-process-gone` and the last of stderr come within a few ms of each other, in any order. */
const SETTLE_MS = 100
const LAST_WORDS = 500

/** Tail of what a process writes to stderr, passed on to ours. */
const tailOf = (stream: NodeJS.ReadableStream | null): (() => string) => {
  let tail = ''
  stream?.on('data', (data: Buffer) => {
    process.stderr.write(data)
    tail = (tail + data.toString('utf8')).slice(-LAST_WORDS)
  })
  return () => lastLine(tail)
}

/** Without the prefix that our processes put before their sentences. */
const lastLine = (text: string): string =>
  (text.trim().split('\n').at(-1) ?? '').replace(/^dcpscope \w+: /, '').trim()

const childOf = (process_: UtilityProcess, serviceName: string): Child<MessagePortMain> => {
  const lastWords = tailOf(process_.stderr)
  const listeners: ((death: Death) => void)[] = []
  let pid = process_.pid
  let gone: Gone | undefined
  let over = false

  const reportSoon = (code: number): void => {
    if (over) return
    over = true
    setTimeout(() => {
      app.off('child-process-gone', onGone)
      for (const listener of listeners) listener(deathOf(code, gone))
    }, SETTLE_MS)
  }
  const onGone = (_event: unknown, details: Electron.Details): void => {
    if (details.name !== serviceName && details.serviceName !== serviceName) return
    gone = details
    reportSoon(details.exitCode)
  }
  app.on('child-process-gone', onGone)
  process_.on('spawn', () => {
    pid = process_.pid
  })
  process_.on('exit', (code) => {
    pid = undefined
    reportSoon(code)
  })

  return {
    pid: () => process_.pid ?? pid,
    post: (message, ports) => process_.postMessage(message, ports === undefined ? [] : [...ports]),
    onMessage: (listener) => {
      process_.on('message', listener)
    },
    onGone: (listener) => {
      listeners.push(listener)
    },
    kill: () => {
      const id = process_.pid ?? pid
      if (id === undefined) process_.kill()
      else killAtOnce(id)
    },
    lastWords,
  }
}

/** A hanging process ignores the polite signal that UtilityProcess.kill sends. */
const killAtOnce = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    // Gone already, which is what was wanted.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}

/** Processes of Electron from the scripts beside `folder`/main.js. */
export const electronForge = (folder: string): Forge<MessagePortMain> => {
  let forks = 0
  return {
    fork: (name) => {
      // A number of its own for each fork, so that a late report of the last one is not taken for this one's.
      const serviceName = `dcpscope-${name}-${++forks}`
      const child = utilityProcess.fork(join(folder, SCRIPTS[name]), [], {
        serviceName,
        stdio: ['ignore', 'inherit', 'pipe'],
      })
      return childOf(child, serviceName)
    },
    channel: () => {
      const { port1, port2 } = new MessageChannelMain()
      return [port1, port2]
    },
  }
}
