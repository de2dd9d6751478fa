import type { DesktopState } from '../../app/protocol/desktop.ts'
import type { Progress, RunInfo } from '../../app/protocol/store.ts'
import type { RunStatus } from '../../app/trace/manifest.ts'

export type RunPhase = NonNullable<DesktopState['activeRun']>['phase'] | RunStatus

export interface RunState {
  readonly phase: RunPhase
  /** Share of the phase that is done, 0 to 1; null where it is not known. */
  readonly fraction: number | null
  readonly error: string | null
  /** Whether this window can pause and stop it. */
  readonly active: boolean
}

interface Known {
  readonly desktop: DesktopState | null
  readonly openId: string | null
  readonly openRun: RunInfo | null
  readonly progress: Progress | null
}

const sweepPhase = ({ pausing, progress }: NonNullable<DesktopState['activeSweep']>): RunPhase =>
  pausing ? 'finishing' : progress === null ? 'starting' : 'running'

/** How the open run stands, from whoever knows it best: main for a run in progress, then the end, then the bundle. */
export const runStateOf = ({ desktop, openId, openRun, progress }: Known): RunState | null => {
  if (openId === null) return null
  const active = desktop?.activeRun
  if (active?.id === openId)
    return { phase: active.phase, fraction: active.fraction, error: null, active: true }
  const ended = (phase: RunPhase, error: string | undefined): RunState => ({
    phase,
    fraction: null,
    error: error ?? null,
    active: false,
  })
  if (desktop?.activeSweep?.run === openId)
    return { phase: sweepPhase(desktop.activeSweep), fraction: null, error: null, active: false }
  const last = desktop?.lastRun
  if (last?.id === openId) return ended(last.status, last.error ?? openRun?.manifest.error)
  if (openRun !== null && openRun.manifest.status !== 'running')
    return ended(openRun.manifest.status, openRun.manifest.error)
  if (progress !== null) return ended(progress.status, progress.error)
  return openRun === null ? null : ended(openRun.manifest.status, openRun.manifest.error)
}

/** Words of an engine or store as a sentence of its own. */
export const sentence = (words: string): string => {
  const text = words.trim()
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`
}

/** How a run ended, why, and what was kept: `bundle` says whether anything was written, null where that is not known. */
export const endText = (
  status: RunStatus,
  error: string | undefined,
  bundle: boolean | null = true,
): string => {
  const kept =
    bundle === null ? '' : bundle ? ' What was written up to then is kept.' : ' Nothing was written.'
  switch (status) {
    case 'running':
      return 'The run goes on.'
    case 'complete':
      return 'The run is complete.'
    case 'stopped':
      return 'The run was stopped; everything up to then is kept.'
    case 'interrupted':
      return `The run was interrupted. ${sentence(error ?? 'A process ended')}${kept}`
    case 'failed':
      return `${bundle === false ? 'The run did not start.' : 'The run failed.'} ${sentence(error ?? 'The engine did not say why')}${kept}`
  }
}

export type Tone = 'ok' | 'warn' | 'bad' | 'live' | 'plain'

export const phaseTone = (phase: RunPhase): Tone => {
  switch (phase) {
    case 'starting':
    case 'filling':
    case 'running':
    case 'finishing':
      return 'live'
    case 'paused':
    case 'stopped':
      return 'plain'
    case 'complete':
      return 'ok'
    case 'interrupted':
      return 'warn'
    case 'failed':
      return 'bad'
  }
}
