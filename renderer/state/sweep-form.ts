import { create } from 'zustand'
import type { PresetName, RunConfig } from '../../app/run/config.ts'
import type { CudaInfo } from '../../app/run/machine.ts'
import { baseOf } from '../../app/sweep/base.ts'
import type { SweepConfig } from '../../app/sweep/config.ts'
import { parseSweepConfig, parseSweepInWindow } from '../../app/sweep/parse.ts'
import { type Draft, type DraftForm, draftForm, type Judged } from './draft-form.ts'
import { DEFAULT_PRESET } from './form.ts'
import { useSession } from './session.ts'

/** A sweep as it is written: its base without what the sweep gives. */
const draftOf = (config: SweepConfig): Draft => ({ ...config, base: baseOf(config.base) })

/** The whole sweep of a preset, with every default filled in. */
export const presetSweep = (name: PresetName): Draft => {
  const parsed = parseSweepConfig({}, name)
  if (!parsed.ok) throw new Error(`the preset ${name} is not a valid sweep`)
  return draftOf(parsed.config)
}

/** A valid sweep with its defaults; a wrong one as it is, for the form to mark. */
export const filledSweep = (draft: Draft): Draft => {
  const parsed = parseSweepConfig(draft)
  return parsed.ok ? draftOf(parsed.config) : draft
}

/** A sweep around a run: its configuration as the base, its KV type and query length in place of the lists'. */
export const sweepAround = (draft: Draft, run: RunConfig): Draft => ({
  ...draft,
  base: baseOf(run),
  kvDtype: [run.cache.kvDtype],
  qLen: [run.workload.qLen],
})

/** What is wrong with a draft on this machine, and what it means. */
export const judgeSweep = (draft: unknown, cuda?: CudaInfo): Judged<SweepConfig> => {
  const parsed = parseSweepInWindow(draft, cuda)
  return parsed.ok ? { issues: [], config: parsed.config } : { issues: parsed.issues, config: null }
}

interface SweepForm extends DraftForm<SweepConfig> {
  /** What was open when the form was opened over it: another bundle shows itself. */
  readonly over: { readonly run: string | null } | null
  readonly show: () => void
  readonly hide: () => void
  readonly loadPreset: (name: PresetName) => void
  readonly takeRun: (run: RunConfig) => void
}

/** The form of the next sweep, and whether it is open. */
export const useSweepForm = create<SweepForm>((set, get) => {
  const form = draftForm(set, get, presetSweep(DEFAULT_PRESET), judgeSweep)
  return {
    ...form,
    over: null,
    show: () => set({ over: { run: useSession.getState().openId } }),
    hide: () => set({ over: null }),
    loadPreset: (name) => form.replace(presetSweep(name)),
    takeRun: (run) => form.replace(sweepAround(get().draft, run)),
  }
})

/** Whether the form takes the place of what is open. */
export const showsSweepForm = (): boolean => {
  const { over } = useSweepForm.getState()
  return over !== null && over.run === useSession.getState().openId
}
