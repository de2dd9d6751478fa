import { useDump } from '../../state/dump.ts'
import { useSelection } from '../../state/selection.ts'
import { useView } from '../../state/view.ts'
import type { FirstPlace } from './model.ts'
import type { Sides } from './use-compare.ts'

/** Selects a place and shows it in A: its tensors where there are some, else where the run has the row. */
export const goToFirst = ({ a }: Sides, { place, tensor }: FirstPlace): void => {
  useSelection.getState().select(place)
  if (tensor !== null && (a?.kind === 'dump' || tensor !== 'merged')) {
    useDump.getState().look('tensors')
    useView.getState().show('postmortem')
  } else useView.getState().show(tensor === null ? 'timeline' : 'merge')
}
