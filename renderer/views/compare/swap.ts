import { useCompare } from '../../state/compare.ts'
import { selectionNow, useSelection } from '../../state/selection.ts'
import { useSession } from '../../state/session.ts'
import type { Sides } from './use-compare.ts'

/** B is shown, and A what it is compared with; the same place stays selected. */
export const swapSides = ({ a, b }: Sides): void => {
  if (a === null || b === null) return
  const selection = selectionNow()
  useCompare.getState().choose(a)
  useSession.getState().showItem(b, { stay: true })
  useSelection.getState().select(selection)
}
