import type { RunInfo, StoreResult } from '../../../app/protocol/store.ts'
import { useAnswer } from '../../state/use-answer.ts'
import { type CaptureShape, type Cell, type SideModel, sideModel } from './model.ts'

/** What is shown of one run of a scenario; parts are null while they are read. */
export interface SideState {
  readonly info: RunInfo | null
  readonly capture: CaptureShape | null
  readonly model: SideModel | null
  readonly events: StoreResult<'events'> | null
  readonly error: string | null
}

const MOST_EVENTS = 1000

/** The captured step of a run with its error map and events. */
export const useCapture = (run: string | null): Omit<SideState, 'model'> => {
  const info = useAnswer('runInfo', run === null ? null : { run })
  const data = info.answer?.params.run === run ? (info.answer?.data ?? null) : null
  const last = data?.captures.at(-1)
  const at = run === null || last === undefined ? null : { run, ...last }
  const capture = useAnswer('capture', at)
  const events = useAnswer('events', run === null ? null : { run, limit: MOST_EVENTS })
  return {
    info: data,
    capture: capture.answer?.params.run === run ? (capture.answer?.data ?? null) : null,
    events: events.answer?.params.run === run ? (events.answer?.data ?? null) : null,
    error: info.error ?? capture.error ?? events.error,
  }
}

/** What a side did with a row and head of its capture. */
export const useSideModel = (
  { info, capture }: Pick<SideState, 'info' | 'capture'>,
  cell: Cell | null,
): SideModel | null => {
  const last = info?.captures.at(-1)
  const wanted =
    info === null || capture === null || cell === null || last === undefined
      ? null
      : { run: info.id, ...last, ...cell }
  const { answer } = useAnswer('mergeRow', wanted)
  const fits =
    answer !== null &&
    wanted !== null &&
    answer.params.run === wanted.run &&
    answer.params.row === wanted.row &&
    answer.params.head === wanted.head
  return fits && capture !== null ? sideModel(answer.data, capture.width, capture.lseBase) : null
}
