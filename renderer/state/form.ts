import { create } from 'zustand'
import type { PresetName, RunConfig } from '../../app/run/config.ts'
import type { CudaInfo } from '../../app/run/machine.ts'
import { type ConfigIssue, parseRunConfig } from '../../app/run/parse.ts'
import { presetNamed } from '../../app/run/presets.ts'
import { unsupportedInWindow } from '../../app/run/support.ts'
import { type ConfigPath, isRecord, withValueAt } from './config-path.ts'

/** A configuration as it stands in the form: nested plain objects, possibly wrong. */
export type Draft = Readonly<Record<string, unknown>>

export const DEFAULT_PRESET: PresetName = 'tiny'

/** The whole configuration of a preset, with every default filled in. */
export const presetDraft = (name: PresetName): RunConfig => {
  const parsed = parseRunConfig({}, name)
  if (!parsed.ok) throw new Error(`the preset ${name} is not valid`)
  return parsed.config
}

export interface Judged {
  readonly issues: readonly ConfigIssue[]
  /** The configuration with defaults; null while a field is wrong. Unsupported fields are issues, not null. */
  readonly config: RunConfig | null
}

/** What is wrong with a draft on this machine, in the order of the schema, and what it means. */
export const judge = (draft: unknown, cuda?: CudaInfo): Judged => {
  const parsed = parseRunConfig(draft)
  return parsed.ok
    ? { issues: unsupportedInWindow(parsed.config, cuda), config: parsed.config }
    : { issues: parsed.issues, config: null }
}

/** The preset over a draft: most fix the model only; one that says more replaces what it names. */
const overPreset = (draft: Draft, name: PresetName): Draft => {
  const full: Draft = { ...presetDraft(name) }
  const named = Object.keys(presetNamed(name).config)
  return { ...draft, ...Object.fromEntries(named.map((key) => [key, full[key]])) }
}

const MOST_UNDO = 200

interface RunForm extends Judged {
  readonly draft: Draft
  readonly past: readonly Draft[]
  readonly future: readonly Draft[]
  /** Path that is being edited: further edits of it are the same step of undo. */
  readonly editing: ConfigPath | null
  /** Puts a value at a path; undefined takes the key out, so that its default holds. */
  readonly set: (path: ConfigPath, value: unknown) => void
  /** Ends the present edit, so that the next one is undone by itself. */
  readonly settle: () => void
  readonly loadPreset: (name: PresetName) => void
  /** Takes a whole configuration, for example a pasted one. */
  readonly replace: (draft: Draft) => void
  readonly reset: () => void
  readonly undo: () => void
  readonly redo: () => void
  /** Takes what the engine says of GPUs here. */
  readonly know: (cuda: CudaInfo | undefined) => void
}

export const useRunForm = create<RunForm>((set, get) => {
  let cuda: CudaInfo | undefined

  const go = (draft: Draft, editing: ConfigPath | null): void => {
    const { draft: before, past, editing: last } = get()
    const same = editing !== null && editing === last
    set({
      draft,
      ...judge(draft, cuda),
      past: same ? past : [...past, before].slice(-MOST_UNDO),
      future: [],
      editing,
    })
  }
  const start: Draft = { ...presetDraft(DEFAULT_PRESET) }
  return {
    draft: start,
    ...judge(start),
    past: [],
    future: [],
    editing: null,
    set: (path, value) => {
      const draft = withValueAt(get().draft, path, value)
      if (isRecord(draft)) go(draft, path)
    },
    settle: () => set({ editing: null }),
    loadPreset: (name) => go(overPreset(get().draft, name), null),
    replace: (draft) => go(draft, null),
    reset: () => go({ ...presetDraft(DEFAULT_PRESET) }, null),
    undo: () => {
      const { draft, past, future } = get()
      const before = past.at(-1)
      if (before === undefined) return
      set({
        draft: before,
        ...judge(before, cuda),
        past: past.slice(0, -1),
        future: [draft, ...future],
        editing: null,
      })
    },
    redo: () => {
      const { draft, past, future } = get()
      const [next, ...rest] = future
      if (next === undefined) return
      set({ draft: next, ...judge(next, cuda), past: [...past, draft], future: rest, editing: null })
    },
    know: (now) => {
      // States come often; a judgement that did not change must stay the same object.
      if (JSON.stringify(now) === JSON.stringify(cuda)) return
      cuda = now
      set(judge(get().draft, cuda))
    },
  }
})
