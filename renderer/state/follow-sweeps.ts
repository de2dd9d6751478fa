import type { DesktopState } from '../../app/protocol/desktop.ts'
import { tell } from './messages.ts'
import { useSession } from './session.ts'
import { sweepEndLevel, sweepEndText } from './sweep-state.ts'

const failedOf = ({ activeSweep }: DesktopState): number =>
  activeSweep?.progress?.phase === 'measuring' ? activeSweep.progress.failed : 0

/** A point that failed does not end a sweep, but is told when it happens. */
const tellFailure = (before: DesktopState, now: DesktopState): void => {
  const progress = now.activeSweep?.progress
  if (progress?.phase !== 'measuring' || progress.failed <= failedOf(before)) return
  tell(
    'warning',
    `The engine failed in a point of the sweep, which goes on with the next. ${progress.failure}`,
  )
}

/** Tells how a sweep of this app goes, and keeps the list of runs and its bundle fresh when it begins and ends. */
export const followSweeps = (before: DesktopState | null, now: DesktopState): void => {
  const { openId, openRunById, refreshRuns, closeItem } = useSession.getState()
  const reread = (run: string): void => {
    void refreshRuns()
    if (openId === run) void openRunById(run, { stay: true })
  }
  const { activeSweep: active, lastSweep: last } = now
  if (before === null) {
    // A page that was loaded again in the middle of a sweep finds it.
    if (openId === null && active !== null) void openRunById(active.run)
    return
  }
  tellFailure(before, now)
  const begins = active?.kept === true && before.activeSweep?.kept !== true
  if (begins) reread(active.run)
  if (last === null || last.seq === before.lastSweep?.seq) return
  tell(sweepEndLevel(last), sweepEndText(last))
  if (last.end.kept) reread(last.run)
  else closeItem(last.run)
}
