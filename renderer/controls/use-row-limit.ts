import { useDeferredValue } from 'react'

/**
 * How many rows of a long table stand in the page: those that the window can show at once, of rows of `rowPx` pixels below
 * `abovePx` pixels of other things, and all the others once these are on the screen, so that nobody waits for what lies below the
 * edge.
 */
export const useRowLimit = (rowPx: number, abovePx: number): number =>
  useDeferredValue(Number.POSITIVE_INFINITY, Math.max(1, Math.ceil((window.innerHeight - abovePx) / rowPx)))
