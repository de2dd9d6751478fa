import { create } from 'zustand'
import type { PresetName, RunConfig } from '../../app/run/config.ts'
import type { CudaInfo } from '../../app/run/machine.ts'
import { parseRunConfig } from '../../app/run/parse.ts'
import { presetNamed } from '../../app/run/presets.ts'
import { unsupportedInWindow } from '../../app/run/support.ts'
import { type Draft, type DraftForm, draftForm, type Judged } from './draft-form.ts'

export const DEFAULT_PRESET: PresetName = 'tiny'

/** The whole configuration of a preset, with every default filled in. */
export const presetDraft = (name: PresetName): RunConfig => {
  const parsed = parseRunConfig({}, name)
  if (!parsed.ok) throw new Error(`the preset ${name} is not valid`)
  return parsed.config
}

/** What is wrong with a draft on this machine, in the order of the schema, and what it means. */
export const judge = (draft: unknown, cuda?: CudaInfo): Judged<RunConfig> => {
  const parsed = parseRunConfig(draft)
  return parsed.ok
    ? { issues: unsupportedInWindow(parsed.config, cuda), config: parsed.config }
    : { issues: parsed.issues, config: null }
}

/** A valid configuration with its defaults; a wrong one as it is, for the form to mark. */
export const filled = (draft: Draft): Draft => {
  const parsed = parseRunConfig(draft)
  return parsed.ok ? { ...parsed.config } : draft
}

/** The preset over a draft: most fix the model only; one that says more replaces what it names. */
const overPreset = (draft: Draft, name: PresetName): Draft => {
  const full: Draft = { ...presetDraft(name) }
  const named = Object.keys(presetNamed(name).config)
  return { ...draft, ...Object.fromEntries(named.map((key) => [key, full[key]])) }
}

interface RunForm extends DraftForm<RunConfig> {
  readonly loadPreset: (name: PresetName) => void
  readonly reset: () => void
}

/** The form of the next run. */
export const useRunForm = create<RunForm>((set, get) => {
  const form = draftForm(set, get, { ...presetDraft(DEFAULT_PRESET) }, judge)
  return {
    ...form,
    loadPreset: (name) => form.replace(overPreset(get().draft, name)),
    reset: () => form.replace({ ...presetDraft(DEFAULT_PRESET) }),
  }
})
