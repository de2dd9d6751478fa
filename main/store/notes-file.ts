import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MAX_NOTES, type Note, notesFileSchema, withNote } from '../../app/trace/notes.ts'
import { temporaryName } from './bundle-files.ts'
import { isMissing, StoreProblem, writeReason } from './problem.ts'

const NOTES_FILE = 'notes.json'
/** Largest file that is read: all notes at their longest are less. */
const MAX_BYTES = 128 * 2 ** 20

/** The notes of a bundle in order of time; none where it has no file of them. Throws StoreProblem with one sentence. */
export const readNotes = (bundle: string): readonly Note[] => {
  const file = join(bundle, NOTES_FILE)
  const damaged = (what: string): StoreProblem =>
    new StoreProblem(
      `the notes of the bundle cannot be read: ${what}; move the file away to begin anew: ${file}`,
    )
  let text: string
  try {
    const stats = statSync(file)
    if (!stats.isFile()) throw damaged('they are not a file')
    if (stats.size > MAX_BYTES) throw damaged('the file is too large')
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw damaged('the file is not JSON')
  }
  const parsed = notesFileSchema.safeParse(value)
  if (parsed.success) return parsed.data.notes
  const issue = parsed.error.issues[0]
  throw damaged(`${issue?.path.join('.') || 'top level'}: ${issue?.message ?? 'is not valid'}`)
}

/**
 * Writes a note, or takes it away where it has no text, and gives all that there are then. The file is replaced by rename, so
 * that the bundle has the old notes or the new ones. Throws StoreProblem where the bundle cannot be written to.
 */
export const writeNote = (bundle: string, note: Note): readonly Note[] => {
  const notes = withNote(readNotes(bundle), note)
  if (notes.length > MAX_NOTES) throw new StoreProblem(`a bundle has at most ${MAX_NOTES} notes`)
  const file = join(bundle, NOTES_FILE)
  const temporary = join(bundle, temporaryName(NOTES_FILE))
  try {
    if (notes.length === 0) {
      rmSync(file, { force: true })
      return notes
    }
    writeFileSync(temporary, `${JSON.stringify({ format: 'dcpscope-notes', version: 1, notes }, null, 2)}\n`)
    renameSync(temporary, file)
    return notes
  } catch (error) {
    try {
      rmSync(temporary, { force: true })
    } catch {
      // What cannot be removed either changes nothing: every reader skips such names.
    }
    throw new StoreProblem(
      `the note was not kept, as the bundle cannot be written to: ${writeReason(error)}; copy the bundle to a folder of yours and open it there: ${bundle}`,
    )
  }
}
