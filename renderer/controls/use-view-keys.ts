import { useEffect, useRef } from 'react'
import { fieldTakes } from './field-keys.ts'

const typing = ({ target, code }: KeyboardEvent): boolean =>
  target instanceof HTMLElement && fieldTakes(target, code)

/**
 * Keys of the view that is shown: `handler` returns true when it used the key. Silent while a person types
 * into a field and for combinations with Ctrl, Alt or Meta.
 */
export const useViewKeys = (handler: (event: KeyboardEvent) => boolean): void => {
  const latest = useRef(handler)
  latest.current = handler
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || typing(event)) return
      if (latest.current(event)) event.preventDefault()
    }
    window.addEventListener('keydown', listen)
    return () => window.removeEventListener('keydown', listen)
  }, [])
}
