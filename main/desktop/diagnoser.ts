import { randomUUID } from 'node:crypto'
import type { CommandResult, DesktopState } from '../../app/protocol/desktop.ts'
import { type DiagnosisCommand, diagnosisEventSchema } from '../../app/protocol/diagnosis.ts'
import { type Child, deathSentence, type Forge } from './child.ts'

/** Diagnoses dumps, one at a time, each in a process of its own: whatever a dump makes of it, the others live on. */
export interface Diagnoser {
  /** What is being diagnosed, and how far that is; null while nothing is. */
  state(): DesktopState['diagnosis']
  /** Takes the place of a diagnosis in progress. A refusal says why there is no result. */
  diagnose(dump: string, paths: readonly string[], allRows: boolean): Promise<CommandResult>
  cancel(): void
}

interface Running {
  readonly child: Child<unknown>
  readonly dump: string
  share: number
  readonly end: (result: CommandResult) => void
}

const refusal = (message: string): CommandResult => ({ ok: false, message, issues: [] })

export const createDiagnoser = <P>(
  forge: Pick<Forge<P>, 'fork'>,
  changed: () => void,
  complain: (sentence: string) => void,
): Diagnoser => {
  let running: Running | null = null

  const end = (of: Running, result: CommandResult): void => {
    if (running !== of) return
    running = null
    of.child.kill()
    of.end(result)
    changed()
  }

  const take = (of: Running, message: unknown, command: DiagnosisCommand): void => {
    if (running !== of) return
    const parsed = diagnosisEventSchema.safeParse(message)
    if (!parsed.success) {
      complain('refused a message of the diagnosis process')
      return
    }
    const event = parsed.data
    switch (event.type) {
      case 'ready':
        of.child.post(command)
        break
      case 'progress':
        of.share = event.share
        changed()
        break
      case 'diagnosed':
        end(of, { ok: true, diagnosis: event.diagnosis })
        break
      case 'cancelled':
        end(of, refusal('The diagnosis was cancelled.'))
        break
      case 'failed':
        end(of, refusal(`The diagnosis failed: ${event.error}`))
        break
    }
  }

  const cancel = (): void => {
    if (running !== null) end(running, refusal('The diagnosis was cancelled.'))
  }

  return {
    state: () => (running === null ? null : { dump: running.dump, share: running.share }),
    diagnose: (dump, paths, allRows) => {
      cancel()
      const child = forge.fork('diagnosis')
      return new Promise((resolve) => {
        const of: Running = { child, dump, share: 0, end: resolve }
        running = of
        const command: DiagnosisCommand = { type: 'diagnose', id: randomUUID(), paths: [...paths], allRows }
        child.onMessage((message) => take(of, message, command))
        child.onGone((death) => end(of, refusal(deathSentence('diagnosis', death))))
        changed()
      })
    },
    cancel,
  }
}
