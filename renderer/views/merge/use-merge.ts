import { useMemo } from 'react'
import type { RunInfo } from '../../../app/protocol/store.ts'
import { useSelection } from '../../state/selection.ts'
import { useSession } from '../../state/session.ts'
import { useAnswer } from '../../state/use-answer.ts'
import { type CaptureKey, type Choice, chosenCapture, chosenRow, within } from './choice.ts'
import { type CaptureShape, type MergeInput, type MergeModel, mergeModel } from './model.ts'

/** What the view shows of the open run for the selected step, layer, row and head. */
export interface MergeState {
  /** null without an open run. */
  readonly choice: Choice | null
  readonly capture: CaptureShape | null
  /** What was asked for; row and head are what is shown and follow it. */
  readonly wanted: { readonly row: number; readonly head: number }
  readonly row: number
  readonly head: number
  readonly input: MergeInput | null
  readonly model: MergeModel | null
  readonly loading: boolean
  readonly error: string | null
}

const keyOf = (choice: Choice | null): CaptureKey | null => (choice?.kind === 'captured' ? choice.key : null)

/** The capture that is shown, or null while it is not the wanted one. */
const useCapture = (run: RunInfo | null, key: CaptureKey | null) => {
  const params = run === null || key === null ? null : { run: run.id, step: key.step, layer: key.layer }
  const { answer, error, loading } = useAnswer('capture', params, run?.manifest.status)
  const same =
    answer !== null &&
    params !== null &&
    answer.params.run === params.run &&
    answer.params.step === params.step &&
    answer.params.layer === params.layer
  return { params, capture: same ? answer.data : null, error, loading }
}

/**
 * The state for what is selected. While the vectors of another row load, row, head and model stay together at
 * what was answered last.
 */
export const useMerge = (): MergeState => {
  const run = useSession((s) => s.openRun)
  const { step, layer, request, qIndex, head } = useSelection()
  const choice = run === null ? null : chosenCapture(run.captures, step, layer, Math.max(0, run.steps - 1))
  const { params, capture, error, loading } = useCapture(run, keyOf(choice))
  const wanted =
    params === null || capture === null || capture.rows === 0
      ? null
      : { ...params, row: chosenRow(capture, request, qIndex), head: within(head ?? 0, capture.heads) }
  const vectors = useAnswer('mergeRow', wanted)
  const { answer } = vectors
  const fits =
    answer !== null &&
    wanted !== null &&
    answer.params.run === wanted.run &&
    answer.params.step === wanted.step &&
    answer.params.layer === wanted.layer
  const input = fits ? answer.data : null
  const row = fits ? answer.params.row : (wanted?.row ?? 0)
  const model = useMemo(
    () => (input === null || capture === null ? null : mergeModel(input, capture, row)),
    [input, capture, row],
  )
  return {
    choice,
    capture,
    wanted: { row: wanted?.row ?? 0, head: wanted?.head ?? 0 },
    row,
    head: fits ? answer.params.head : (wanted?.head ?? 0),
    input,
    model,
    loading: loading || vectors.loading,
    error: error ?? vectors.error,
  }
}
