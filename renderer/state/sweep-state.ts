import type { DesktopState } from '../../app/protocol/desktop.ts'
import type { SweepEnd } from '../../app/protocol/sweep.ts'
import { durationText } from '../../app/sweep/words.ts'
import { formatInt } from '../drawing/format.ts'
import { sentence } from './run-state.ts'

export type ActiveSweep = NonNullable<DesktopState['activeSweep']>
export type LastSweep = NonNullable<DesktopState['lastSweep']>

/** How far a sweep is that is measured here, in a few words: `5 of 30 points, 2 min left`. */
export const shortProgress = ({ pausing, progress }: ActiveSweep): string => {
  if (pausing) return 'closing its bundle'
  if (progress === null) return 'starting'
  if (progress.phase === 'calibrating')
    return `rates of the device, ${formatInt(progress.done + 1)} of ${formatInt(progress.total)}`
  const { done, total, secondsLeft } = progress
  return `${formatInt(done)} of ${formatInt(total)} points, ${durationText(secondsLeft)} left`
}

const counted = ({ measured, points }: SweepEnd): string =>
  `${formatInt(measured)} of ${formatInt(points)} points are measured and kept`

const failedPoints = ({ failed }: SweepEnd): string =>
  `${formatInt(failed)} ${failed === 1 ? 'point' : 'points'}`

/** What came of the measuring of a sweep, what was kept, and what to do. */
export const sweepEndText = ({ name, end }: LastSweep): string => {
  const why = sentence(end.error ?? 'It did not say why')
  switch (end.status) {
    case 'running':
      return `The sweep ${name} goes on.`
    case 'complete':
      return end.failed === 0
        ? `The sweep ${name} is complete: ${formatInt(end.measured)} points are measured.`
        : `The sweep ${name} came to its end, but the engine failed in ${failedPoints(end)}. ${why} Resume tries again.`
    case 'stopped':
      return end.kept
        ? `The sweep ${name} is paused: ${counted(end)}. Resume goes on.`
        : `The sweep ${name} was stopped before its first point; nothing was written.`
    case 'interrupted':
      return end.kept
        ? `The sweep ${name} was interrupted. ${why} All but about the last second is kept. Resume goes on.`
        : `The sweep ${name} was interrupted before its first point. ${why} Nothing was written.`
    case 'failed':
      if (!end.kept) return `The sweep ${name} did not begin. ${why} Nothing was written.`
      return end.points === 0
        ? `The sweep ${name} was not gone on with. ${why} What it has is kept.`
        : `The sweep ${name} ended. ${why} ${sentence(counted(end))} Resume goes on.`
  }
}

/** How loud the end of a sweep is told. */
export const sweepEndLevel = ({ end }: LastSweep): 'info' | 'warning' | 'error' => {
  if (end.status === 'complete') return end.failed === 0 ? 'info' : 'warning'
  return end.status === 'stopped' ? 'info' : 'error'
}
