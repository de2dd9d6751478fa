import { z } from 'zod'
import { STAGES } from './stages.ts'

/** Longest text of a note, and most notes of a bundle. */
export const MAX_NOTE_LENGTH = 2000
export const MAX_NOTES = 10_000

/** What a person wrote about a span. A span is known by its rank, stage and start. */
export const noteSchema = z.strictObject({
  rank: z.int().min(0),
  stage: z.enum(STAGES),
  /** On the clock of the run, ns. */
  startNs: z.number().min(0),
  durNs: z.number().min(0),
  step: z.int().min(0),
  layer: z.int().min(-1),
  text: z.string().max(MAX_NOTE_LENGTH),
  /** When it was last changed, ISO 8601 UTC. */
  changedAt: z.string().max(40),
})
export type Note = z.output<typeof noteSchema>

/** `notes.json` of a bundle; docs/format.md describes it. */
export const notesFileSchema = z.strictObject({
  format: z.literal('dcpscope-notes'),
  version: z.literal(1),
  notes: z.array(noteSchema).max(MAX_NOTES),
})

type SpanPlace = Pick<Note, 'rank' | 'stage' | 'startNs'>

export const isNoteOf = (note: SpanPlace, { rank, stage, startNs }: SpanPlace): boolean =>
  note.rank === rank && note.stage === stage && note.startNs === startNs

/** The notes with this one in place of an earlier one of its span, in order of time; a note without text takes that away. */
export const withNote = (notes: readonly Note[], note: Note): readonly Note[] => {
  const others = notes.filter((other) => !isNoteOf(other, note))
  if (note.text.trim() === '') return others
  return [...others, note].sort((a, b) => a.startNs - b.startNs || a.rank - b.rank)
}
