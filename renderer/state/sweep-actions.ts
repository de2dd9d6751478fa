import type { CommandResult } from '../../app/protocol/desktop.ts'
import { isUnfinished } from '../../app/sweep/manifest.ts'
import { DEFAULT_PRESET } from './form.ts'
import { useSession } from './session.ts'
import { whyNotMeasure } from './start.ts'
import { presetSweep, showsSweepForm, useSweepForm } from './sweep-form.ts'
import { useView } from './view.ts'

/** Measures the sweep of the small preset, which takes a minute at most. */
export const startSmallSweep = (): Promise<CommandResult> => {
  useSweepForm.getState().hide()
  return useSession.getState().startSweep(presetSweep(DEFAULT_PRESET))
}

/** Measures what the form says, which is put away then. */
export const startFormSweep = async (): Promise<void> => {
  const { draft, hide } = useSweepForm.getState()
  const result = await useSession.getState().startSweep(draft)
  if (result.ok) hide()
}

/** Goes on with a sweep, and shows it in place of the form. */
export const resumeSweep = (run: string): Promise<CommandResult> => {
  useSweepForm.getState().hide()
  return useSession.getState().resumeSweep(run)
}

export const showSweepForm = (): void => {
  useSweepForm.getState().show()
  useView.getState().show('throughput')
}

const inThroughput = (): boolean => useView.getState().view === 'throughput'

/** Whether the form of a sweep is what is shown. */
export const isFormShown = (): boolean => inThroughput() && showsSweepForm()

export const canStartForm = (): boolean => {
  const { issues } = useSweepForm.getState()
  return isFormShown() && issues.length === 0 && whyNotMeasure(useSession.getState().desktop) === null
}

/** Pauses the sweep that is measured, else goes on with the one that is shown; null where there is neither. */
const toggled = (): (() => Promise<CommandResult>) | null => {
  const { desktop, openRun, pauseSweep } = useSession.getState()
  const active = desktop?.activeSweep ?? null
  if (active !== null) return active.pausing ? null : pauseSweep
  if (!inThroughput() || showsSweepForm() || openRun === null || !isUnfinished(openRun.manifest)) return null
  return whyNotMeasure(desktop) === null ? () => resumeSweep(openRun.id) : null
}

export const canToggleSweep = (): boolean => toggled() !== null

export const toggleSweep = (): void => void toggled()?.()
