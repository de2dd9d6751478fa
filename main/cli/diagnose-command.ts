import { randomUUID } from 'node:crypto'
import { diagnosisText } from '../../app/diagnosis/text.ts'
import type { DiagnosisEvent } from '../../app/protocol/diagnosis.ts'
import { startDiagnosis } from './diagnosis-process.ts'
import { badInputs, CliFailure, EXIT, type ExitCode } from './failure.ts'
import { liveLine } from './live-line.ts'
import { watchSignals } from './signals.ts'

export interface DiagnoseCommandOptions {
  readonly json?: boolean
  readonly allRows?: boolean
}

export interface DiagnoseAnswer {
  readonly stdout: string
  readonly exitCode: ExitCode
}

type End = Exclude<DiagnosisEvent, { type: 'ready' | 'progress' }>

/**
 * What `diagnose` prints of dump files, folders and bundles: exit 1 where a fault was found or nothing decides, 2 where no
 * file can be used. `distDir` holds the built scripts.
 */
export const diagnoseCommand = async (
  distDir: string,
  paths: readonly string[],
  { json = false, allRows = false }: DiagnoseCommandOptions,
): Promise<DiagnoseAnswer> => {
  const end = await diagnosed(distDir, paths, allRows)
  switch (end.type) {
    case 'cancelled':
      throw new CliFailure(EXIT.interrupted, 'the diagnosis was ended; it writes nothing')
    case 'failed':
      throw new CliFailure(EXIT.engineFailed, `the diagnosis failed: ${end.error}`)
    case 'diagnosed': {
      const { diagnosis, groups } = end
      if (groups === 0) throw badInputs(diagnosis.inputIssues.map(({ message }) => message))
      return {
        stdout: json ? JSON.stringify(diagnosis) : diagnosisText(diagnosis),
        exitCode: diagnosis.verdict === 'healthy' ? EXIT.fine : EXIT.no,
      }
    }
  }
}

const diagnosed = async (distDir: string, paths: readonly string[], allRows: boolean): Promise<End> => {
  const signals = watchSignals()
  const line = liveLine(process.stderr)
  const id = randomUUID()
  try {
    const diagnosis = startDiagnosis(distDir)
    // A diagnosis keeps nothing, so the first signal already ends its process.
    signals.endWith({ send: diagnosis.kill, kill: diagnosis.kill })
    const ended = new Promise<End>((resolve) => {
      diagnosis.onEvent((event) => {
        if (event.type === 'ready') {
          diagnosis.send({ type: 'diagnose', id, paths: [...paths], allRows })
        } else if (event.type === 'progress') line.show(`diagnosing ${Math.round(event.share * 100)}%`)
        else resolve(event)
      })
    })
    const died = diagnosis.exited.then(
      (how): End => (signals.asked() ? { type: 'cancelled', id } : { type: 'failed', id, error: how }),
    )
    try {
      return await Promise.race([ended, died])
    } finally {
      diagnosis.kill()
    }
  } finally {
    line.close()
    signals.release()
  }
}
