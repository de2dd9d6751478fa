import { diagnose } from '../../app/diagnosis/diagnose.ts'
import type { Reference } from '../../app/diagnosis/reference.ts'
import {
  type DiagnosisCommand,
  type DiagnosisEvent,
  diagnosisCommandSchema,
} from '../../app/protocol/diagnosis.ts'
import { readDumps } from '../dump/dump-files.ts'

export interface DiagnosisHost {
  /** A message of the process that started this one, not yet parsed. */
  command(message: unknown): void
}

class Cancelled extends Error {}

/** Share of the work that is worth a message. */
const LEAST_PROGRESS = 0.01

/** The process that diagnoses, without the process: commands in, events out. */
export const createDiagnosisHost = (
  reference: Reference | undefined,
  report: (event: DiagnosisEvent) => void,
  complain: (sentence: string) => void,
): DiagnosisHost => {
  const cancelled = new Set<string>()
  let queue = Promise.resolve()

  const run = async ({
    id,
    paths,
    allRows,
  }: Extract<DiagnosisCommand, { type: 'diagnose' }>): Promise<void> => {
    const aborted = (): void => {
      if (cancelled.has(id)) throw new Cancelled()
    }
    let told = 0
    const progress = (share: number): void => {
      if (share < told + LEAST_PROGRESS) return
      told = share
      report({ type: 'progress', id, share })
    }
    try {
      const set = await readDumps(paths, aborted)
      const diagnosis = await diagnose(set, {
        ...(reference === undefined ? {} : { reference }),
        allRows,
        progress,
        aborted,
      })
      report({ type: 'diagnosed', id, groups: set.groups.length, diagnosis })
    } catch (error) {
      if (error instanceof Cancelled) report({ type: 'cancelled', id })
      else report({ type: 'failed', id, error: error instanceof Error ? error.message : String(error) })
    } finally {
      cancelled.delete(id)
    }
  }

  return {
    command: (message) => {
      const parsed = diagnosisCommandSchema.safeParse(message)
      if (!parsed.success)
        complain(`refused a command: ${parsed.error.issues.map((i) => i.message).join('; ')}`)
      else if (parsed.data.type === 'cancel') cancelled.add(parsed.data.id)
      else {
        const { data } = parsed
        queue = queue.then(() => run(data))
      }
    },
  }
}
