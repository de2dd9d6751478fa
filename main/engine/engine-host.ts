import { type EngineCommand, type EngineEvent, engineCommandSchema } from '../../app/protocol/engine.ts'
import type { RunConfig } from '../../app/run/config.ts'
import { deviceOf, engineConfig } from '../../app/run/engine-config.ts'
import { usableGpus } from '../../app/run/gpus.ts'
import type { CudaInfo } from '../../app/run/machine.ts'
import { configRules, issueText } from '../../app/run/parse.ts'
import { unsupported, unsupportedInWindow } from '../../app/run/support.ts'
import type { Port } from '../process/port.ts'
import { type Driver, type DriverDeps, type RunEngine, type RunRequest, startRun } from './driver.ts'

export interface EngineHost {
  /** A message of the process that started this one, not yet parsed. */
  command(message: unknown): void
  /** The line to the store; a new one takes the place of the last. */
  connectStore(port: Port): void
  /** Ends a run in progress and waits for it. */
  shutDown(): Promise<void>
}

/** Starts a run whose ranks are processes, where this process can. */
export type StartGroup = (request: RunRequest, deps: DriverDeps) => Driver

const noGpu = ({ reason }: CudaInfo): string => reason ?? 'the engine can use no GPU here'

/** The engine host without its process: commands in, events out, one run at a time. */
export const createEngineHost = (
  addon: RunEngine,
  report: (event: EngineEvent) => void,
  complain: (sentence: string) => void,
  startGroup?: StartGroup,
): EngineHost => {
  let store: Port | undefined
  let driver: Driver | undefined

  const refuse = (runId: string, error: string, code: string): void =>
    report({ type: 'ended', runId, status: 'failed', error, code })

  const start = (command: Extract<EngineCommand, { type: 'start' }>): void => {
    const { type: _, ...request } = command
    const cuda = cudaFor(request.config)
    const refused = refusalOf(request.config, cuda)
    const port = store
    if (driver !== undefined) refuse(request.runId, 'a run is in progress already', 'ERR_STATE')
    else if (port === undefined) refuse(request.runId, 'no store is connected', 'ERR_STORE')
    else if (refused !== '') refuse(request.runId, refused, 'ERR_CONFIG')
    else if (request.config.engine.device === 'cuda' && cuda?.available === false)
      refuse(request.runId, noGpu(cuda), 'ERR_ENGINE')
    else {
      const device = deviceOf(request.config, usableGpus(cuda))
      const begin = request.config.engine.ranks === 'processes' ? (startGroup ?? startRun) : startRun
      driver = begin({ ...request, device }, { addon, report, post: (message) => port.post(message) })
      driver.done.then(() => {
        driver = undefined
      })
    }
  }

  /** What there is of GPUs, for configurations that may run on one. */
  const cudaFor = ({ engine }: RunConfig): CudaInfo | undefined =>
    engine.device === 'cpu' ? undefined : addon.cuda()

  /** What is wrong with a configuration; a GPU that is asked for and missing is the machine's fault, not its. */
  const refusalOf = (config: RunConfig, cuda: CudaInfo | undefined): string => {
    const known = config.engine.device === 'auto' ? cuda : undefined
    const missing = (startGroup === undefined ? unsupportedInWindow : unsupported)(config, known)
    return [...configRules(config), ...missing].map(issueText).join('; ')
  }

  const predicted = (config: RunConfig): Extract<EngineEvent, { type: 'predicted' }>['result'] => {
    const cuda = cudaFor(config)
    const refused = refusalOf(config, cuda)
    if (refused !== '') return { ok: false, message: refused }
    try {
      const device = deviceOf(config, usableGpus(cuda))
      const onDevice = addon
        .predictMemory(engineConfig(config, device))
        .filter(({ place }) => (place === 'device') === (device === 'cuda'))
      const components = onDevice.map(({ name, bytes }) => ({ name, bytes }))
      const gpuBytes = cuda?.devices[0]?.freeBytes ?? 0
      const availableBytes = device === 'cuda' ? gpuBytes : addon.cpu().memoryAvailableBytes
      return { ok: true, prediction: { device, components, availableBytes } }
    } catch (error) {
      return { ok: false, message: error instanceof Error ? error.message : String(error) }
    }
  }

  const obey = (command: EngineCommand): void => {
    switch (command.type) {
      case 'start':
        start(command)
        break
      case 'predict':
        report({ type: 'predicted', seq: command.seq, result: predicted(command.config) })
        break
      case 'pause':
        driver?.pause()
        break
      case 'resume':
        driver?.resume()
        break
      case 'stop':
        driver?.stop()
        break
      case 'ping':
        report({ type: 'pong', seq: command.seq })
        break
    }
  }

  return {
    command: (message) => {
      const parsed = engineCommandSchema.safeParse(message)
      if (parsed.success) obey(parsed.data)
      else complain(`refused a command: ${parsed.error.issues.map((i) => i.message).join('; ')}`)
    },
    connectStore: (port) => {
      driver?.storeGone()
      store?.close()
      store = port
      port.onMessage((message) => {
        if (store === port) driver?.storeReply(message)
      })
      port.onClose(() => {
        if (store !== port) return
        store = undefined
        driver?.storeGone()
      })
    },
    shutDown: async () => {
      driver?.stop()
      await driver?.done
    },
  }
}
