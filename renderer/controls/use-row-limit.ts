import { useDeferredValue } from 'react'

/** More than a window of the reference size shows of any table. */
const FIRST_ROWS = 30

/**
 * How many rows of a long table stand in the page: those that can be seen at once, and all the others once these are on the
 * screen, so that nobody waits for what lies below the edge.
 */
export const useRowLimit = (): number => useDeferredValue(Number.POSITIVE_INFINITY, FIRST_ROWS)
