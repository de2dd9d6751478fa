import { useEffect, useMemo } from 'react'
import type { Measure } from '../../../app/dump/survey.ts'
import type { DumpRank } from '../../../app/protocol/store.ts'
import { useDump } from '../../state/dump.ts'
import { chosenGroup, type GroupRef } from '../../state/dump-group.ts'
import { useSelection } from '../../state/selection.ts'
import { useSession } from '../../state/session.ts'
import { type AnswerState, useAnswer } from '../../state/use-answer.ts'
import {
  cellOf,
  chosenMeasure,
  chosenTensor,
  type DumpGroup,
  type DumpInfo,
  type Place,
  type RankPart,
  rankParts,
  type TensorRow,
  tensorNames,
  tensorRows,
} from './model.ts'
import { usePick } from './pick.ts'

/** Where the shown tensors come from. */
export interface Source {
  /** Id for the store: of a dump, or of the run whose captures are shown. */
  readonly id: string
  readonly isRun: boolean
}

/** What is open; null where neither a dump nor a run with captures is. */
export const useSource = (): Source | null => {
  const dump = useDump((s) => s.dump)
  const run = useSession((s) => s.openRun)
  if (dump !== null) return { id: dump, isRun: false }
  return run === null || run.captures.length === 0 ? null : { id: run.id, isRun: true }
}

/** The shown tensor of the shown group. */
export interface Shown {
  readonly group: DumpGroup
  readonly rows: readonly TensorRow[]
  readonly names: readonly string[]
  readonly tensor: string | null
  /** Ranks that have it. */
  readonly parts: readonly RankPart[]
  readonly measure: Measure
  /** The part of the selected rank, else the first. */
  readonly part: RankPart | null
  /** Picked cell of each rank, as far as it has it. */
  readonly cells: ReadonlyMap<DumpRank, Place>
}

export interface DumpView {
  readonly source: Source | null
  readonly info: AnswerState<'dumpInfo'>
  /** Of the open source; null while it is read. */
  readonly contents: DumpInfo | null
  readonly ref: (GroupRef & { readonly dump: string }) | null
  readonly shown: Shown | null
  readonly error: string | null
}

const shownOf = (
  group: DumpGroup,
  picked: { readonly tensor: string | null; readonly measure: Measure; readonly place: Place },
  selection: Parameters<typeof cellOf>[3] & { readonly rank: number | null },
): Shown => {
  const rows = tensorRows(group.files)
  const names = tensorNames(rows)
  const tensor = chosenTensor(names, picked.tensor)
  const parts = tensor === null ? [] : rankParts(group.files, tensor)
  const cells = new Map<DumpRank, Place>()
  for (const part of parts) {
    const cell = cellOf(part, tensor ?? '', group, selection, picked.place)
    if (cell !== null) cells.set(part.rank, cell)
  }
  const part = parts.find(({ rank }) => rank === selection.rank) ?? parts[0] ?? null
  const measure = part === null ? 'value' : chosenMeasure(part, picked.measure)
  return { group, rows, names, tensor, parts, measure, part, cells }
}

/** What the view shows of the open dump for what is selected. */
export const useDumpView = (): DumpView => {
  const source = useSource()
  const captures = useSession((s) => s.openRun?.captures.length ?? 0)
  const { step, layer, request, qIndex, head, rank } = useSelection()
  const { tensor, measure, place } = usePick()
  const params = source === null ? null : { dump: source.id }
  const info = useAnswer('dumpInfo', params, source?.isRun === true ? String(captures) : '')
  const contents = info.answer !== null && info.answer.params.dump === source?.id ? info.answer.data : null
  const chosen = contents === null ? null : chosenGroup(contents.groups, step, layer)
  const ref =
    source === null || chosen === null ? null : { dump: source.id, step: chosen.step, layer: chosen.layer }
  const answered = useAnswer('dumpGroup', ref)
  const at = answered.answer?.params
  const group =
    ref !== null && at?.dump === ref.dump && at.step === ref.step && at.layer === ref.layer
      ? (answered.answer?.data ?? null)
      : null
  const shown = useMemo(
    () =>
      group === null ? null : shownOf(group, { tensor, measure, place }, { request, qIndex, head, rank }),
    [group, tensor, measure, place, request, qIndex, head, rank],
  )
  useWantedRow(group)
  return { source, info, contents, ref, shown, error: info.error ?? answered.error }
}

/** Selects the request and query token of a row that somebody wants to see, once the group says which they are. */
const useWantedRow = (group: DumpGroup | null): void => {
  const { row, found } = useDump()
  const select = useSelection((s) => s.select)
  useEffect(() => {
    if (row === null || group === null) return
    select({ request: group.request[row] ?? null, qIndex: group.qIndex[row] ?? null })
    found()
  }, [row, group, select, found])
}
