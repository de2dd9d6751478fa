import type { CudaInfo } from '../../app/run/machine.ts'
import type { ConfigIssue } from '../../app/run/parse.ts'
import { type ConfigPath, isRecord, withValueAt } from './config-path.ts'

/** A configuration as it stands in a form: nested plain objects, possibly wrong. */
export type Draft = Readonly<Record<string, unknown>>

export interface Judged<C> {
  readonly issues: readonly ConfigIssue[]
  /** The configuration with defaults; null while it cannot be told. */
  readonly config: C | null
}

const MOST_UNDO = 200

/** A draft with what is wrong with it, and its history. */
export interface DraftForm<C> extends Judged<C> {
  readonly draft: Draft
  readonly past: readonly Draft[]
  readonly future: readonly Draft[]
  /** Path that is being edited: further edits of it are the same step of undo. */
  readonly editing: ConfigPath | null
  /** Puts a value at a path; undefined takes the key out, so that its default holds. */
  readonly set: (path: ConfigPath, value: unknown) => void
  /** Ends the present edit, so that the next one is undone by itself. */
  readonly settle: () => void
  /** Takes a whole configuration, for example a pasted one. */
  readonly replace: (draft: Draft) => void
  readonly undo: () => void
  readonly redo: () => void
  /** Takes what the engine says of GPUs here. */
  readonly know: (cuda: CudaInfo | undefined) => void
}

/** State of a form that begins with `start`; `set` and `get` are those of the store that it becomes a part of. */
export const draftForm = <C>(
  set: (parts: Partial<DraftForm<C>>) => void,
  get: () => DraftForm<C>,
  start: Draft,
  judge: (draft: Draft, cuda?: CudaInfo) => Judged<C>,
): DraftForm<C> => {
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
    replace: (draft) => go(draft, null),
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
}
