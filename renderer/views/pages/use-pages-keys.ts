import { useRef } from 'react'
import { columnOf } from '../../../app/dcp/pages.ts'
import type { StoreResult } from '../../../app/protocol/store.ts'
import { useViewKeys } from '../../controls/use-view-keys.ts'
import { useSelection } from '../../state/selection.ts'
import { COLOUR_MODES, useLook } from './look.ts'
import { moved } from './moves.ts'
import { pick, rankNow, type SelectedCell } from './use-cell.ts'
import { type Pages, pagingFor } from './use-pages.ts'

type Check = StoreResult<'pageSummary'>['checks'][number]

/** Shows the first cell that breaks an invariant. */
export const showCheck = (rank: number, { first }: Check): void => {
  if (first !== null) pick(rank, first)
}

/** Moves through block tables by keys; see shell/view-keys.ts. Zooms are those of the picture. */
export const usePagesKeys = (
  pages: Pages,
  selected: SelectedCell,
  goTo: React.RefObject<HTMLInputElement | null>,
): void => {
  const { shown, summary } = pages
  const broken = useRef(-1)
  useViewKeys((event) => {
    const { mode, asTable, change } = useLook.getState()
    const { cell } = selected
    const paging = cell === null ? null : pagingFor(pages, cell.request)
    const newest =
      cell === null || cell.newest < 0 || paging === null
        ? Math.max(0, summary.widest - 1)
        : columnOf(cell.newest, paging)
    const { requests, widest: columns } = summary
    const to = moved(event.code, selected, { requests, columns, newest })
    if (to !== null) {
      pick(rankNow(shown), to)
      return true
    }
    switch (event.code) {
      case 'KeyP':
      case 'KeyN': {
        const rank = rankNow(shown) + (event.code === 'KeyP' ? -1 : 1)
        if (rank >= 0 && rank < shown.ranks) useSelection.getState().select({ rank })
        return true
      }
      case 'KeyE': {
        const wrong = summary.checks.filter(({ first }) => first !== null)
        broken.current = (broken.current + 1) % Math.max(1, wrong.length)
        const next = wrong[broken.current]
        if (next !== undefined) showCheck(shown.rank, next)
        return true
      }
      case 'KeyC':
        change({ mode: COLOUR_MODES[(COLOUR_MODES.indexOf(mode) + 1) % COLOUR_MODES.length] ?? 'owner' })
        return true
      case 'KeyT':
        change({ asTable: !asTable })
        return true
      case 'KeyG':
        goTo.current?.focus()
        return true
      default:
        return false
    }
  })
}
