import type { CommandResult } from '../../app/protocol/desktop.ts'
import { DEFAULT_PRESET, presetDraft, useRunForm } from './form.ts'
import { runStateOf } from './run-state.ts'
import { useSession } from './session.ts'

export const startDefaultRun = (): Promise<CommandResult> =>
  useSession.getState().startRun(presetDraft(DEFAULT_PRESET))

/** Starts what the form says; the form keeps Start disabled while it is wrong. */
export const startFormRun = (): Promise<CommandResult> =>
  useSession.getState().startRun(useRunForm.getState().draft)

export const togglePause = (): Promise<CommandResult> => {
  const session = useSession.getState()
  return runStateOf(session)?.phase === 'paused' ? session.resume() : session.pause()
}
