import type { EngineEvent } from '../../app/protocol/engine.ts'
import { messageType, type ParentPort, parentPort } from '../process/parent-port.ts'
import { electronPort, ipcPorts } from '../process/port.ts'
import { startGroup } from '../ranks/group.ts'
import { startRankProcess } from '../ranks/rank-process.ts'
import type { NativeAddon } from './addon.ts'
import { createEngineHost, type EngineHost } from './engine-host.ts'
import { loadAddon } from './load-addon.ts'
import { untilPoisoned } from './poisoned.ts'

/**
 * Entry of the engine process: a utility process of Electron, where the line to the store arrives as a port of a
 * `{type: 'store-port'}` message, or a plain child process with one IPC channel for both (see ipcPorts).
 */

/** Exit code of an engine process that has no engine to offer; the reason stands on stderr. */
const NO_ENGINE = 3
const SHUT_DOWN_MS = 2000

const complain = (sentence: string): void => {
  process.stderr.write(`dcpscope engine: ${sentence}\n`)
}

const addonOrExit = (): NativeAddon => {
  try {
    return loadAddon(__dirname)
  } catch (error) {
    complain(error instanceof Error ? error.message : String(error))
    process.exit(NO_ENGINE)
  }
}

const greet = (addon: NativeAddon, report: (event: EngineEvent) => void): void => {
  const { cores, simd, memoryAvailableBytes } = addon.cpu()
  report({ type: 'ready', version: addon.version, cores, simd, memoryAvailableBytes, cuda: addon.cuda() })
}

const reportTo = (post: (event: EngineEvent) => void) => untilPoisoned(post, complain, process.exit)

const serveElectron = (parent: ParentPort<EngineEvent>): void => {
  const addon = addonOrExit()
  const report = reportTo((event) => parent.postMessage(event))
  const host = createEngineHost(addon, report, complain)
  parent.on('message', ({ data, ports }) => {
    const port = ports[0]
    if (messageType(data) !== 'store-port') host.command(data)
    else if (port !== undefined) host.connectStore(electronPort(port))
    else complain('refused a store-port message without a port')
  })
  greet(addon, report)
}

const serveFork = (): void => {
  const addon = addonOrExit()
  const { control, data } = ipcPorts(process)
  const report = reportTo((event) => control.post(event))
  const host = createEngineHost(addon, report, complain, (request, deps) =>
    startGroup(request, {
      ...deps,
      addon,
      startRank: (assignment) => startRankProcess(__dirname, assignment),
    }),
  )
  control.onMessage(host.command)
  host.connectStore(data)
  control.onClose(() => leave(host))
  // Ctrl-C in a terminal reaches the whole group; the parent decides what it means.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
  greet(addon, report)
}

/** The parent is gone and nobody listens any more. */
const leave = (host: EngineHost): void => {
  setTimeout(() => process.exit(1), SHUT_DOWN_MS).unref()
  host.shutDown().then(() => process.exit(0))
}

const parent = parentPort<EngineEvent>()
if (parent !== undefined) serveElectron(parent)
else if (process.send !== undefined) serveFork()
else {
  complain('this script is started by dcpscope, not by hand')
  process.exit(2)
}
