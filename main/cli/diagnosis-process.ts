import { fork } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import {
  type DiagnosisCommand,
  type DiagnosisEvent,
  diagnosisEventSchema,
} from '../../app/protocol/diagnosis.ts'
import { childEnd } from '../process/child-end.ts'
import { ipcPorts } from '../process/port.ts'
import { CliFailure, EXIT } from './failure.ts'

/** The process that diagnoses: whatever a dump makes of it, the command lives to say so. */
export interface DiagnosisProcess {
  send(command: DiagnosisCommand): void
  onEvent(listener: (event: DiagnosisEvent) => void): void
  /** Settles when the process has ended, with a sentence that says how. */
  readonly exited: Promise<string>
  kill(): void
}

export const startDiagnosis = (distDir: string): DiagnosisProcess => {
  const script = join(distDir, 'diagnosis-host.js')
  if (!existsSync(script))
    throw new CliFailure(
      EXIT.engineFailed,
      `the diagnosis is missing; run "npm run build" (looked for ${script})`,
    )
  const child = fork(script, [], {
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    execArgv: [],
  })
  const { control } = ipcPorts(child)
  return {
    send: (command) => control.post(command),
    onEvent: (listener) =>
      control.onMessage((message) => {
        const event = diagnosisEventSchema.safeParse(message)
        listener(event.success ? event.data : { type: 'failed', id: '', error: 'it sent something unknown' })
      }),
    exited: childEnd(child).then(
      ({ how, words }) => `the process of the diagnosis ${how}${words === '' ? '' : `: ${words}`}`,
    ),
    kill: () => {
      child.kill('SIGKILL')
    },
  }
}
