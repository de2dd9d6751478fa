import { useViewKeys } from '../../controls/use-view-keys.ts'
import { useBackendPick } from '../../state/backend-pick.ts'
import { cellAt, type Shown } from './model.ts'

const ARROWS: Readonly<Record<string, readonly [lines: number, columns: number]>> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  Home: [0, -1000],
  End: [0, 1000],
  PageUp: [-10, 0],
  PageDown: [10, 0],
}

interface Keys {
  readonly shown: Shown
  readonly focusFilter: () => void
  readonly copy: () => void
  readonly take: () => void
}

/** Moves through the matrix by keys; see shell/view-keys.ts. */
export const useBackendsKeys = ({ shown, focusFilter, copy, take }: Keys): void =>
  useViewKeys((event) => {
    const { row, backend, pick } = useBackendPick.getState()
    const arrow = ARROWS[event.code]
    if (arrow !== undefined) {
      const next = cellAt(shown, { row, backend }, { lines: arrow[0], columns: arrow[1] })
      pick(next.row, next.backend)
      return true
    }
    const picked = row !== null || backend !== null
    switch (event.code) {
      case 'Slash':
        if (event.shiftKey) return false
        focusFilter()
        return true
      case 'KeyC':
        copy()
        return true
      case 'KeyT':
        take()
        return true
      case 'Escape':
        if (picked) pick(null, null)
        return picked
      default:
        return false
    }
  })
