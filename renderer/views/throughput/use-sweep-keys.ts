import { arrangementName, otherAxis } from '../../../app/sweep/spots.ts'
import { useViewKeys } from '../../controls/use-view-keys.ts'
import { useSelection } from '../../state/selection.ts'
import type { LookControl } from './look.ts'
import { type CellRow, moved, type SweepModel } from './model.ts'
import { otherMeasure, PICTURE_OF } from './Pictures.tsx'

interface Keys {
  readonly model: SweepModel | null
  /** What the curves hold. */
  readonly held: number
  readonly control: LookControl
  readonly cell: readonly CellRow[]
  readonly picked: CellRow | null
  readonly reload: () => void
}

const ARROWS: Readonly<Record<string, readonly [contexts: number, concurrencies: number]>> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
}

/** Moves through the map and the arrangements of a cell by keys; see shell/view-keys.ts. */
export const useSweepKeys = ({ model, held, control, cell, picked, reload }: Keys): void => {
  const { context, concurrency, select } = useSelection()
  const { look, change } = control
  const pick = (by: number): boolean => {
    const names = cell.map(({ spot }) => arrangementName(spot))
    const at = picked === null ? -1 : names.indexOf(arrangementName(picked.spot))
    const name = names[Math.min(names.length - 1, Math.max(0, at + by))]
    if (name === undefined) return false
    change({ arrangement: name })
    return true
  }
  useViewKeys((event) => {
    const arrow = ARROWS[event.code]
    if (model !== null && arrow !== undefined) {
      // The first press selects what the curves hold.
      const from = { context, concurrency, [otherAxis(look.axis)]: held }
      const start = context === null || concurrency === null
      select({
        context: moved(model.contexts, start ? from.context : context, start ? 0 : arrow[0]),
        concurrency: moved(model.concurrencies, start ? from.concurrency : concurrency, start ? 0 : arrow[1]),
      })
      return true
    }
    const picture = PICTURE_OF.get(event.code)
    if (picture !== undefined) {
      change({ picture })
      return true
    }
    switch (event.code) {
      case 'KeyP':
        return pick(-1)
      case 'KeyN':
        return pick(1)
      case 'KeyX':
        change({ axis: otherAxis(look.axis) })
        return true
      case 'KeyL':
        change({ logarithmic: !look.logarithmic })
        return true
      case 'KeyM':
        otherMeasure(control)
        return true
      case 'KeyR':
        reload()
        return true
      default:
        return false
    }
  })
}
