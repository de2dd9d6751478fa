import type { DiagnosisEvent } from '../../app/protocol/diagnosis.ts'
import { parentPort } from '../process/parent-port.ts'
import { ipcPorts } from '../process/port.ts'
import { createDiagnosisHost } from './diagnosis-host.ts'
import { nativeReference } from './native-reference.ts'

/**
 * Entry of the process that diagnoses: a utility process of Electron, or a plain child process with an IPC channel. It works
 * also where the native engine is missing, and then says what it could not check.
 */

const complain = (sentence: string): void => {
  process.stderr.write(`dcpscope diagnosis: ${sentence}\n`)
}

const parent = parentPort<DiagnosisEvent>()
if (parent !== undefined) {
  const host = createDiagnosisHost(nativeReference(__dirname), (event) => parent.postMessage(event), complain)
  parent.on('message', ({ data }) => host.command(data))
  parent.postMessage({ type: 'ready' })
} else if (process.send !== undefined) {
  const { control } = ipcPorts(process)
  const host = createDiagnosisHost(nativeReference(__dirname), (event) => control.post(event), complain)
  control.onMessage(host.command)
  control.onClose(() => process.exit(0))
  // Ctrl-C in a terminal reaches the whole group; the parent decides what it means.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
  control.post({ type: 'ready' } satisfies DiagnosisEvent)
} else {
  complain('this script is started by dcpscope, not by hand')
  process.exit(2)
}
