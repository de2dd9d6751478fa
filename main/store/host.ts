import type { StoreEvent } from '../../app/protocol/store.ts'
import { type ElectronPort, electronPort, ipcPorts } from '../process/port.ts'
import { problemText } from './problem.ts'
import { Store } from './store.ts'

/**
 * Entry of the store process. As a utility process of Electron, lines arrive as ports of `{type: 'engine-port'}` and
 * `{type: 'client-port'}` messages. As a plain child process the one IPC channel carries commands (control) and one
 * client (data), see ipcPorts.
 */
interface ParentPort {
  on(event: 'message', listener: (event: { data: unknown; ports: ElectronPort[] }) => void): unknown
  postMessage(message: StoreEvent): void
}

const isParentPort = (value: unknown): value is ParentPort =>
  typeof value === 'object' && value !== null && 'postMessage' in value && 'on' in value

const complain = (sentence: string): void => {
  process.stderr.write(`dcpscope store: ${sentence}\n`)
}

/** Commands run one after the other, so that `open` finds what `interrupt` before it has written. */
const obeying = (store: Store, report: (event: StoreEvent) => void): ((command: unknown) => void) => {
  let queue = Promise.resolve()
  return (command) => {
    // A heartbeat is answered at once, whatever is being opened.
    const urgent = typeOf(command) === 'ping'
    const work = (): Promise<void> =>
      store
        .handle(command)
        .then((event) => {
          if (event !== undefined) report(event)
        })
        .catch((error: unknown) => complain(problemText(error)))
    if (urgent) work()
    else queue = queue.then(work)
  }
}

const typeOf = (data: unknown): unknown =>
  typeof data === 'object' && data !== null && 'type' in data ? data.type : undefined

const serveElectron = (parent: ParentPort): void => {
  const store = new Store()
  const report = (event: StoreEvent): void => parent.postMessage(event)
  const obey = obeying(store, report)
  parent.on('message', ({ data, ports }) => {
    const port = ports[0]
    const type = typeOf(data)
    if (type !== 'engine-port' && type !== 'client-port') obey(data)
    else if (port === undefined) complain(`refused a ${type} message without a port`)
    else if (type === 'engine-port') store.attachEngine(electronPort(port))
    else store.attachClient(electronPort(port))
  })
  report({ type: 'ready' })
}

const serveFork = (): void => {
  const store = new Store()
  const { control, data } = ipcPorts(process)
  const report = (event: StoreEvent): void => control.post(event)
  control.onMessage(obeying(store, report))
  store.attachClient(data)
  control.onClose(() => {
    store.close().then(() => process.exit(0))
  })
  report({ type: 'ready' })
}

const parentPort: unknown = Reflect.get(process, 'parentPort')
if (isParentPort(parentPort)) serveElectron(parentPort)
else if (process.send !== undefined) serveFork()
else {
  complain('this script is started by dcpscope, not by hand')
  process.exit(2)
}
