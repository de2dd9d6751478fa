import { useViewKeys } from '../../controls/use-view-keys.ts'
import { useCompare } from '../../state/compare.ts'
import { useSelection } from '../../state/selection.ts'
import { goToFirst } from './go.ts'
import { useStepTable } from './look.ts'
import { barOfStep, firstPlace, stepBars, type Times } from './model.ts'
import { swapSides } from './swap.ts'
import type { Comparison, Sides } from './use-compare.ts'

const done = (act: () => void): boolean => {
  act()
  return true
}

const moveStage = ({ rows }: Times, by: 1 | -1): boolean => {
  const { measure, look } = useCompare.getState()
  const at = rows.findIndex((row) => row.measure === measure)
  const next = rows[Math.max(0, Math.min(rows.length - 1, at + by))]
  return next !== undefined && done(() => look(next.measure))
}

const moveStep = (times: Times, by: 1 | -1): boolean => {
  const { step, select } = useSelection.getState()
  const found = stepBars(times, useCompare.getState().measure)
  if (found === null) return false
  const at = barOfStep(found, step, times.perPart)
  const next = at === null ? (by > 0 ? 0 : found.bars.length - 1) : at + by
  const bar = found.bars[Math.max(0, Math.min(found.bars.length - 1, next))]
  return bar !== undefined && done(() => select({ step: bar.step }))
}

/** The keys of the view; their list for people is in shell/view-keys.ts. */
export const useCompareKeys = (sides: Sides, { times, rows, tensors, again }: Comparison): void => {
  const first = firstPlace(rows, tensors)
  useViewKeys(({ code }) => {
    switch (code) {
      case 'ArrowDown':
        return times !== null && moveStage(times, 1)
      case 'ArrowUp':
        return times !== null && moveStage(times, -1)
      case 'ArrowRight':
        return times !== null && moveStep(times, 1)
      case 'ArrowLeft':
        return times !== null && moveStep(times, -1)
      case 'KeyX':
        return done(() => swapSides(sides))
      case 'KeyF':
        return first !== null && done(() => goToFirst(sides, first))
      case 'KeyT':
        return done(useStepTable.getState().toggle)
      case 'KeyR':
        return done(again)
      default:
        return false
    }
  })
}
