import type { DesktopState } from '../../app/protocol/desktop.ts'

/** Why no run can be started now, in one sentence; null when one can. */
export const whyNotStart = (desktop: DesktopState | null, issues: number): string | null => {
  if (issues > 0) return 'The configuration has fields to correct.'
  if (desktop === null) return 'The window is still connecting.'
  if (desktop.activeRun !== null) return 'A run is in progress; stop it or wait for its end.'
  if (desktop.activeSweep !== null) return 'A sweep is being measured; pause it or wait for its end.'
  if (desktop.engine.status === 'starting') return 'The engine is starting.'
  if (desktop.engine.status === 'crashed') return 'The engine ended; restart it first.'
  if (desktop.store.status === 'starting') return 'The store is starting.'
  if (desktop.store.status === 'crashed') return 'The store ended; restart it first.'
  return null
}

/** Why no sweep can be measured now, new or gone on with; null when one can. */
export const whyNotMeasure = (desktop: DesktopState | null): string | null => {
  if (desktop === null) return 'The window is still connecting.'
  if (desktop.activeRun !== null)
    return 'A run is in progress and would change what a sweep measures; stop it or wait for its end.'
  if (desktop.activeSweep !== null) return 'A sweep is being measured; pause it or wait for its end.'
  return null
}
