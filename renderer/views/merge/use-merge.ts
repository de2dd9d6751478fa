import { useSelection } from '../../state/selection.ts'
import { useSession } from '../../state/session.ts'
import { useStoreQuery } from '../../state/store-client.ts'
import { type CaptureKey, type Choice, chosenCapture, chosenRow, within } from './choice.ts'
import { type CaptureShape, type MergeInput, type MergeModel, mergeModel } from './model.ts'

/** What the view shows of the open run for the selected step, layer, row and head. */
export interface MergeState {
  /** null without an open run. */
  readonly choice: Choice | null
  readonly capture: CaptureShape | null
  readonly row: number
  readonly head: number
  readonly input: MergeInput | null
  readonly model: MergeModel | null
  readonly loading: boolean
  readonly error: string | null
}

const keyOf = (choice: Choice | null): CaptureKey | null => (choice?.kind === 'captured' ? choice.key : null)

export const useMerge = (): MergeState => {
  const run = useSession((s) => s.openRun)
  const { step, layer, request, qIndex, head: wantedHead } = useSelection()
  const choice = run === null ? null : chosenCapture(run.captures, step, layer, Math.max(0, run.steps - 1))
  const key = keyOf(choice)
  const captured = run === null || key === null ? null : { run: run.id, ...key }
  const shape = useStoreQuery('capture', captured)
  const capture = captured === null ? null : (shape.data ?? null)
  const row = capture === null ? 0 : chosenRow(capture, request, qIndex)
  const head = capture === null ? 0 : within(wantedHead ?? 0, capture.heads)
  const vectors = useStoreQuery(
    'mergeRow',
    captured === null || capture === null || capture.rows === 0 ? null : { ...captured, row, head },
  )
  const input = captured === null ? null : (vectors.data ?? null)
  const fits = input !== null && capture !== null && input.lse.length === capture.ranks
  return {
    choice,
    capture,
    row,
    head,
    input,
    model: fits ? mergeModel(input, capture, row) : null,
    loading: shape.loading || vectors.loading,
    error: shape.error ?? vectors.error ?? null,
  }
}
