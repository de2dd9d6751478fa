import { useEffect } from 'react'
import { useTrail } from '../state/trail.ts'
import type { ViewId } from '../state/view.ts'
import { ACTIONS } from './actions.ts'
import { keyBelongsTo, matches } from './keys.ts'
import { useLayout } from './layout.ts'

const onKey = (event: KeyboardEvent): void => {
  if (event.defaultPrevented || event.isComposing) return
  if (event.code === 'Escape' && useLayout.getState().helpOpen) {
    useLayout.getState().showHelp(false)
    event.preventDefault()
    return
  }
  for (const action of ACTIONS)
    for (const key of action.keys)
      if (matches(event, key) && !keyBelongsTo(event.target, key) && action.enabled()) {
        event.preventDefault()
        action.run()
        return
      }
}

/** The side buttons of a mouse, `MouseEvent.button`. */
const SIDE_BUTTONS: ReadonlyMap<number, 'back' | 'forward'> = new Map([
  [3, 'back'],
  [4, 'forward'],
])

const onButton = (event: MouseEvent): void => {
  const way = SIDE_BUTTONS.get(event.button)
  if (way === undefined) return
  event.preventDefault()
  useTrail.getState().go(way)
}

/** Runs actions by their keys. Listening begins anew with each view, behind it: keys that the view used are its own. */
export const useActionKeys = (view: ViewId): void => {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the order of listeners depends on the view
  useEffect(() => {
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [view])
  useEffect(() => {
    window.addEventListener('mouseup', onButton)
    return () => window.removeEventListener('mouseup', onButton)
  }, [])
}
