import { useEffect, useState } from 'react'
import type { Written } from '../../../app/dcp/coverage.ts'
import type { RunInfo } from '../../../app/protocol/store.ts'
import { request } from '../../state/store-client.ts'

/** One mark for the whole row of a request: only its newest token is asked for. */
const WHOLE_ROW = { requests: 1, columnFrom: 0, marks: 1, perMark: 2 ** 32 } as const

const writtenOn = async (
  run: RunInfo,
  step: number,
  layer: number,
  requestFrom: number,
): Promise<Written | null> => {
  const answers = await Promise.all(
    Array.from({ length: run.ranks }, (_, rank) =>
      request('pageCells', { source: { dump: run.id, step, layer, rank }, requestFrom, ...WHOLE_ROW }),
    ),
  )
  const token = answers[0]?.newest[0] ?? -1
  const slots = answers.map(({ writtenSlot }) => writtenSlot[0] ?? Number.NaN)
  if (token < 0 || slots.some(Number.isNaN)) return null
  return { token, ranks: slots.flatMap((slot, rank) => (slot >= 0 ? [rank] : [])) }
}

/** Which ranks stored the newest token of a request at a step, where that step was captured; null where it was not. */
export const useWritten = (run: RunInfo | null, step: number, requestOf: number): Written | null => {
  const [kept, setKept] = useState<{ readonly key: string; readonly written: Written | null } | null>(null)
  const layer = run?.captures.find((capture) => capture.step === step)?.layer
  const key = run === null || layer === undefined ? null : `${run.id} ${step} ${layer} ${requestOf}`
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key names everything that is asked
  useEffect(() => {
    if (key === null || run === null || layer === undefined) return
    let wanted = true
    writtenOn(run, step, layer, requestOf).then(
      (written) => {
        if (wanted) setKept({ key, written })
      },
      // A capture without these tensors says nothing; what is wrong with it is told where captures are shown.
      () => {
        if (wanted) setKept({ key, written: null })
      },
    )
    return () => {
      wanted = false
    }
  }, [key])
  return kept !== null && kept.key === key ? kept.written : null
}
