import { type RefObject, useEffect, useState } from 'react'
import { isNoteOf, MAX_NOTE_LENGTH, type Note } from '../../../../app/trace/notes.ts'
import { RankChip } from '../../../controls/RankChip.tsx'
import { formatInt, formatNs } from '../../../drawing/format.ts'
import { CopyButton } from '../../../shell/CopyButton.tsx'
import { unkeptKey, useNotes } from '../../../state/notes.ts'
import type { HoveredItem } from '../scene.ts'
import { type DataColumn, DataTable } from './DataTable.tsx'

const COLUMNS: readonly DataColumn<Note>[] = [
  { id: 'text', title: 'note', value: ({ text }) => text, words: true },
  { id: 'stage', title: 'stage', value: ({ stage }) => stage, words: true },
  { id: 'rank', title: 'rank', value: ({ rank }) => rank, show: ({ rank }) => <RankChip rank={rank} /> },
  { id: 'step', title: 'step', value: ({ step }) => step, show: ({ step }) => formatInt(step) },
  { id: 'layer', title: 'layer', value: ({ layer }) => (layer < 0 ? null : layer) },
  {
    id: 'start_ns',
    title: 'start',
    value: ({ startNs }) => startNs,
    show: ({ startNs }) => <span title={`${formatInt(startNs)} ns`}>{formatNs(startNs)}</span>,
  },
  { id: 'changed_at', title: 'changed', value: ({ changedAt }) => changedAt, words: true },
]

interface Props {
  readonly run: string
  readonly notes: readonly Note[]
  readonly error: string | null
  /** The selected span. */
  readonly span: HoveredItem | null
  /** The field of the note, for the key that goes there. */
  readonly field: RefObject<HTMLTextAreaElement | null>
  readonly goTo: (rank: number, ns: number) => void
}

/** The note of the selected span, and all notes of the bundle. */
export const NotesPanel = ({ run, notes, error, span, field, goTo }: Props) => {
  const undone = useNotes((s) => s.undone.length)
  const undo = useNotes((s) => s.undo)
  return (
    <>
      {error === null ? null : (
        <p className="timeline-error" role="alert">
          {error}
        </p>
      )}
      <div className="panel-bar">
        {span === null ? (
          <span className="panel-caption">
            Select a span to write about it; notes are kept in the bundle and found by the search (/).
          </span>
        ) : (
          <NoteField
            key={`${span.rank} ${span.stage} ${span.startNs}`}
            run={run}
            notes={notes}
            span={span}
            field={field}
          />
        )}
        <button
          type="button"
          className="button"
          disabled={undone === 0}
          title="Undo the last change of a note (Ctrl+Z)"
          data-testid="timeline-note-undo"
          onClick={() => void undo()}
        >
          Undo
        </button>
      </div>
      <DataTable
        label="Notes"
        columns={COLUMNS}
        rows={notes}
        keyOf={({ rank, stage, startNs }) => `${rank} ${stage} ${startNs}`}
        nothing="There are no notes yet."
        isPicked={(note) => span !== null && isNoteOf(note, span)}
        onPick={({ rank, startNs }) => goTo(rank, startNs)}
        pickHint="Go to its span"
        testId="timeline-notes"
      />
    </>
  )
}

interface FieldProps extends Pick<Props, 'run' | 'notes' | 'field'> {
  readonly span: HoveredItem
}

const NoteField = ({ run, notes, span, field }: FieldProps) => {
  const kept = notes.find((note) => isNoteOf(note, span))?.text ?? ''
  const unkept = useNotes((s) => s.unkept.get(unkeptKey(run, span)))
  const [text, setText] = useState(unkept ?? kept)
  const [busy, setBusy] = useState(false)
  const write = useNotes((s) => s.write)
  // An undo, or another window, changes what is kept.
  useEffect(() => setText(unkept ?? kept), [unkept, kept])
  const { rank, stage, startNs, durNs, step, layer } = span
  const save = async (next: string): Promise<void> => {
    setBusy(true)
    const note = {
      rank,
      stage,
      startNs,
      durNs,
      step,
      layer,
      text: next.trim(),
      changedAt: new Date().toISOString(),
    }
    if (await write(run, note, notes)) field.current?.blur()
    setBusy(false)
  }
  const isChanged = text.trim() !== kept
  return (
    <form
      className="note-form"
      onSubmit={(event) => {
        event.preventDefault()
        if (isChanged) void save(text)
      }}
    >
      <textarea
        ref={field}
        className="input note-field"
        rows={2}
        maxLength={MAX_NOTE_LENGTH}
        aria-label={`Note on ${stage} of rank ${rank}, step ${step}`}
        placeholder={`Note on ${stage} of rank ${rank}, step ${step} (Ctrl+Enter keeps it)`}
        data-testid="timeline-note"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
            event.preventDefault()
            event.currentTarget.form?.requestSubmit()
          }
          if (event.key !== 'Escape') return
          event.stopPropagation()
          setText(kept)
          event.currentTarget.blur()
        }}
      />
      <button type="submit" className="button" disabled={!isChanged || busy} data-testid="timeline-note-keep">
        Keep
      </button>
      {unkept === undefined || unkept === '' ? null : (
        <CopyButton
          text={text}
          what="the note, which was not kept"
          label="Copy"
          className="button"
          testId="timeline-note-copy"
        />
      )}
      <button
        type="button"
        className="button"
        disabled={kept === '' || busy}
        data-testid="timeline-note-remove"
        onClick={() => void save('')}
      >
        Take away
      </button>
    </form>
  )
}
