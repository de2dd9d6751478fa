import type { SweepEvent } from '../../app/protocol/sweep.ts'
import { messageType, parentPort } from '../process/parent-port.ts'
import { electronPort } from '../process/port.ts'
import { createSweepHost } from './sweep-host.ts'

/**
 * Entry of the process that measures a sweep for a window, a utility process of Electron. The command line measures in its
 * own process.
 */

const complain = (sentence: string): void => {
  process.stderr.write(`dcpscope sweep: ${sentence}\n`)
}

const parent = parentPort<SweepEvent>()
if (parent === undefined) {
  complain('this script is started by dcpscope, not by hand')
  process.exit(2)
} else {
  const host = createSweepHost((event) => parent.postMessage(event), complain)
  parent.on('message', ({ data, ports: [port] }) => {
    if (messageType(data) !== 'engine-port') host.command(data)
    else if (port === undefined) complain('refused an engine-port message without a port')
    else host.connectEngine(electronPort(port))
  })
  parent.postMessage({ type: 'ready' })
}
