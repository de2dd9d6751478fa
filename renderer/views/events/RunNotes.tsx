import { type RunNote, runNotes } from '../../../app/events/run-notes.ts'
import type { RunInfo } from '../../../app/protocol/store.ts'
import { useView, type ViewId } from '../../state/view.ts'
import { SEVERITY_TONES } from './model.ts'

/** Where one learns more. */
const VIEW_OF: Readonly<Partial<Record<RunNote['kind'], { view: ViewId; word: string }>>> = {
  guard: { view: 'backends', word: 'Back-ends' },
  fault: { view: 'scenarios', word: 'Scenarios' },
}

/** What is worth a look of the run as a whole: refusals and replacements of its back-end, injected faults, how it ended. */
export const RunNotes = ({ run }: { readonly run: RunInfo }) => {
  const show = useView((s) => s.show)
  const notes = runNotes(run.manifest)
  if (notes.length === 0) return null
  return (
    <section className="events-notes" aria-label="Of the whole run" data-testid="events-notes">
      <h3>Of the whole run</h3>
      <ul>
        {notes.map((note) => {
          const more = VIEW_OF[note.kind]
          return (
            <li key={`${note.what} ${note.text}`}>
              <span className={SEVERITY_TONES[note.severity]}>{note.severity}</span>
              <b>{note.what}</b>
              <span className="selectable events-note-text">{note.text}</span>
              {more === undefined ? null : (
                <button type="button" className="button events-note-way" onClick={() => show(more.view)}>
                  {more.word}
                </button>
              )}
            </li>
          )
        })}
      </ul>
    </section>
  )
}
