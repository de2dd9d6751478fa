import { useSelection } from '../state/selection.ts'
import { useSession } from '../state/session.ts'

/** The step that is shown when none is selected: the newest. */
export const shownStep = (selected: number | null, steps: number): number | null =>
  steps === 0 ? null : Math.min(Math.max(0, selected ?? steps - 1), steps - 1)

/** Selects the step `by` further; stops at the ends. */
export const moveStep = (by: number): void => {
  const steps = useSession.getState().openRun?.steps ?? 0
  const step = shownStep(useSelection.getState().step, steps)
  if (step !== null) useSelection.getState().select({ step: Math.min(Math.max(0, step + by), steps - 1) })
}
