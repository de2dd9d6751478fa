import type { DesktopState } from '../../../app/protocol/desktop.ts'
import { isUnfinished } from '../../../app/sweep/manifest.ts'
import { durationText } from '../../../app/sweep/words.ts'
import type { Manifest } from '../../../app/trace/manifest.ts'
import { formatInt, formatRate } from '../../drawing/format.ts'
import { whyNotMeasure } from '../../state/start.ts'
import type { Progress } from './model.ts'

/** What can be done about the measuring of the sweep that is shown; `barred` says why not now. */
export interface MeasureAction {
  readonly kind: 'pause' | 'resume'
  readonly barred: string | null
}

export interface MeasureState {
  readonly word: string
  readonly tone: 'ok' | 'warn' | 'bad' | 'live' | 'plain'
  readonly done: number
  readonly total: number
  /** What is going on, or what is left. */
  readonly words: readonly string[]
  readonly action: MeasureAction | null
}

type Known = Pick<DesktopState, 'activeRun' | 'activeSweep'>

const activeState = (
  { pausing, progress }: NonNullable<DesktopState['activeSweep']>,
  known: Progress | null,
): MeasureState => {
  const action: MeasureAction = { kind: 'pause', barred: pausing ? 'It closes its bundle' : null }
  const own = { tone: 'live' as const, done: known?.measured ?? 0, total: known?.points ?? 0, action }
  const word = pausing ? 'pausing' : 'measuring'
  if (progress === null) return { ...own, word: 'starting', words: ['its processes start'] }
  if (progress.phase === 'calibrating')
    return {
      ...own,
      word,
      words: [
        `rates of the device, run ${formatInt(progress.done + 1)} of ${formatInt(progress.total)}`,
        'points follow',
      ],
    }
  const { done, total, key, repeat, repeats, tokensPerSecond, failed, secondsLeft } = progress
  return {
    ...own,
    word,
    done,
    total,
    words: [
      ...(failed === 0 ? [] : [`${formatInt(failed)} failed`]),
      `${durationText(secondsLeft)} left`,
      `${key}, repeat ${formatInt(repeat + 1)} of ${formatInt(repeats)}`,
      ...(tokensPerSecond === undefined ? [] : [`${formatRate(tokensPerSecond)} tokens/s before`]),
    ],
  }
}

/** Why points are missing of a sweep that nobody measures. */
const leftWords = ({ points, measured, missing }: Progress): string[] => {
  const count = (why: 'failed' | 'memory'): number => missing.filter((one) => one.why === why).length
  const [failed, memory, left] = [count('failed'), count('memory'), points - measured]
  return [
    ...(left === 0 ? [] : [`${formatInt(left)} ${left === 1 ? 'point' : 'points'} left`]),
    ...(failed === 0 ? [] : [`the engine failed in ${formatInt(failed)}`]),
    ...(memory === 0 ? [] : [`${formatInt(memory)} not held by the device`]),
  ]
}

/** Why a sweep that could be gone on with cannot be from here, or not now. */
const barredResume = ({ sweep }: Manifest, desktop: DesktopState | null): string | null =>
  sweep?.config.base.engine.ranks === 'processes'
    ? 'Its ranks are processes, which only the command line measures'
    : whyNotMeasure(desktop)

/** How the measuring of a sweep stands: of this app, of another process, or ended. `known` is null before it has points. */
export const measureState = (
  run: string,
  manifest: Manifest | null,
  desktop: (DesktopState & Known) | null,
  known: Progress | null,
): MeasureState => {
  const active = desktop?.activeSweep
  if (active?.run === run) return activeState(active, known)
  const count = { done: known?.measured ?? 0, total: known?.points ?? 0 }
  const left = known === null ? [] : leftWords(known)
  if (manifest?.status === 'running')
    return { ...count, word: 'measuring', tone: 'live', words: ['by another process', ...left], action: null }
  const unfinished = manifest !== null && isUnfinished(manifest)
  return {
    ...count,
    word: manifest?.status === 'stopped' ? 'paused' : (manifest?.status ?? 'starting'),
    tone: unfinished ? (manifest.status === 'stopped' ? 'plain' : 'warn') : 'ok',
    words: left,
    action: unfinished ? { kind: 'resume', barred: barredResume(manifest, desktop) } : null,
  }
}
