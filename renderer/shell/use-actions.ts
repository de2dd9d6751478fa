import { useEffect } from 'react'
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

/** Runs actions by their keys. Listening begins anew with each view, behind it: keys that the view used are its own. */
export const useActionKeys = (view: ViewId): void => {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the order of listeners depends on the view
  useEffect(() => {
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [view])
}
