import { create } from 'zustand'
import { isNoteOf, type Note } from '../../app/trace/notes.ts'
import { tell } from './messages.ts'
import { request } from './store-client.ts'

/** A change that can be taken back: the note as it was before, without text where there was none. */
interface Change {
  readonly run: string
  readonly before: Note
}

interface NoteStore {
  /** Rises with every change: what was asked of notes before is old. */
  readonly version: number
  /** Changes that can be taken back, the last one last. */
  readonly undone: readonly Change[]
  /** Texts that could not be written, by `unkeptKey`: nobody shall have to type them again. */
  readonly unkept: ReadonlyMap<string, string>
  /** Keeps a note in the bundle of `run`, or takes it away where it has no text; `known` are the notes before. */
  readonly write: (run: string, note: Note, known: readonly Note[]) => Promise<boolean>
  readonly undo: () => Promise<void>
}

/** Names the span of a note among those of all runs. */
export const unkeptKey = (
  run: string,
  { rank, stage, startNs }: Pick<Note, 'rank' | 'stage' | 'startNs'>,
): string => `${run} ${rank} ${stage} ${startNs}`

const MOST = 100

/** Sends a note; what kept it from being written is told. */
const send = async (run: string, note: Note): Promise<boolean> => {
  try {
    await request('writeNote', { run, note })
    return true
  } catch (error) {
    tell('error', error instanceof Error ? error.message : String(error))
    return false
  }
}

/** Changes of the notes of all runs. */
export const useNotes = create<NoteStore>((set, get) => ({
  version: 0,
  undone: [],
  unkept: new Map(),
  write: async (run, note, known) => {
    const before = known.find((other) => isNoteOf(other, note)) ?? { ...note, text: '' }
    const kept = await send(run, note)
    set(({ version, undone, unkept }) =>
      kept
        ? {
            version: version + 1,
            undone: [...undone, { run, before }].slice(-MOST),
            unkept: new Map([...unkept].filter(([key]) => key !== unkeptKey(run, note))),
          }
        : { unkept: new Map(unkept).set(unkeptKey(run, note), note.text) },
    )
    return kept
  },
  undo: async () => {
    const last = get().undone.at(-1)
    if (last === undefined) return
    set(({ undone }) => ({ undone: undone.slice(0, -1) }))
    if (!(await send(last.run, last.before))) return
    set(({ version }) => ({ version: version + 1 }))
    tell('info', last.before.text === '' ? 'The note is taken away again.' : 'The note is as it was before.')
  },
}))
