import type { StoreEvent } from '../../app/protocol/store.ts'
import { messageType, type ParentPort, parentPort } from '../process/parent-port.ts'
import { electronPort } from '../process/port.ts'
import { problemText } from './problem.ts'
import { Store } from './store.ts'

/**
 * Entry of the store process, a utility process of Electron: lines arrive as ports of `{type: 'engine-port'}` and
 * `{type: 'client-port'}` messages. The command line has the store in its own process.
 */

const complain = (sentence: string): void => {
  process.stderr.write(`dcpscope store: ${sentence}\n`)
}

/** Commands run one after the other, so that `open` finds what `interrupt` before it has written. */
const obeying = (store: Store, report: (event: StoreEvent) => void): ((command: unknown) => void) => {
  let queue = Promise.resolve()
  return (command) => {
    // A heartbeat is answered at once, whatever is being opened.
    const urgent = messageType(command) === 'ping'
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

const serveElectron = (parent: ParentPort<StoreEvent>): void => {
  const store = new Store()
  const report = (event: StoreEvent): void => parent.postMessage(event)
  const obey = obeying(store, report)
  parent.on('message', ({ data, ports }) => {
    const port = ports[0]
    const type = messageType(data)
    if (type !== 'engine-port' && type !== 'client-port') obey(data)
    else if (port === undefined) complain(`refused a ${type} message without a port`)
    else if (type === 'engine-port') store.attachEngine(electronPort(port))
    else store.attachClient(electronPort(port))
  })
  report({ type: 'ready' })
}

const parent = parentPort<StoreEvent>()
if (parent !== undefined) serveElectron(parent)
else {
  complain('this script is started by dcpscope, not by hand')
  process.exit(2)
}
