import { useEffect, useMemo } from 'react'
import { columnOf } from '../../../app/dcp/pages.ts'
import type { CellPlace } from '../../../app/pages/rank-table.ts'
import { useSelection } from '../../state/selection.ts'
import { useAnswer } from '../../state/use-answer.ts'
import { type Cell, firstToken } from './facts.ts'
import { useLook } from './look.ts'
import { type Shown, within } from './source.ts'
import { type Pages, pagingFor } from './use-pages.ts'
import { cellIn } from './windows.ts'

/** All that is known of one cell, also where it is not in view; null while unknown. */
export const useCell = ({ shown, again }: Pages, place: CellPlace | null): Cell | null => {
  const { answer } = useAnswer(
    'pageCells',
    place === null
      ? null
      : {
          source: shown.source,
          requestFrom: place.request,
          requests: 1,
          columnFrom: place.column,
          marks: 1,
          perMark: 1,
        },
    again,
  )
  return answer === null || place === null || answer.params.source.rank !== shown.rank
    ? null
    : cellIn(answer, place.request, place.column)
}

/** The rank that is to be shown: another one than is shown while its table is on its way. */
export const wantedRank = ({ rank, ranks }: Shown, selected: number | null): number =>
  selected === null ? rank : within(selected, ranks)

/** The same, now. */
export const rankNow = (shown: Shown): number => wantedRank(shown, useSelection.getState().rank)

/** Selects a cell; its page and token follow when they are known. */
export const pick = (rank: number, { request, column }: CellPlace): void => {
  useSelection.getState().select({ rank, request, token: null, page: null })
  useLook.getState().change({ column, picking: true })
}

export interface SelectedCell {
  readonly request: number
  /** Null where nothing of a cell is selected. */
  readonly place: CellPlace | null
  readonly cell: Cell | null
}

/** The cell of the selected token, else of the selected page, else the picked one. */
export const useSelectedCell = (pages: Pages): SelectedCell => {
  const { summary, shown, again } = pages
  const selection = useSelection()
  const { column, picking, change } = useLook()
  const { token, page, select } = selection
  const users = useAnswer(
    'pageUsers',
    token === null && page !== null ? { source: shown.source, page } : null,
    again,
  )
  const found = users.answer?.data.users ?? []
  const user = found.find(({ request }) => request === selection.request) ?? found[0]
  const ofPage = token === null && page !== null && !picking
  const request = within((ofPage ? user?.request : undefined) ?? selection.request ?? 0, summary.requests)
  const paging = useMemo(() => pagingFor(pages, request), [pages, request])
  const place: CellPlace | null =
    token !== null && paging !== null
      ? { request, column: columnOf(token, paging) }
      : ofPage
        ? user === undefined
          ? null
          : { request, column: user.column }
        : selection.request === null
          ? null
          : { request, column }
  const cell = useCell(pages, place)
  useEffect(() => {
    if (cell === null) return
    const own = cell.page < 0 ? null : cell.page
    if (ofPage && selection.request !== cell.request) select({ request: cell.request })
    else if (picking) {
      select({ page: own, token: token ?? firstToken(cell, paging) })
      change({ picking: false })
    } else if (token !== null && page !== null && page !== own) select({ page: own })
  }, [cell, picking, ofPage, selection.request, token, page, paging, select, change])
  return { request, place, cell }
}
