import { useState } from 'react'
import { ImportIcon } from '../../shell/icons.tsx'
import { Popover } from '../../shell/Popover.tsx'
import type { Draft } from '../../state/draft-form.ts'
import { parseDraft } from './import-config.ts'

interface Props {
  /** Part of a configuration, to show what is wanted. */
  readonly example: string
  /** What the form takes of an object: a valid one with its defaults, a wrong one as it is, for the form to mark. */
  readonly fill: (draft: Draft) => Draft
  readonly onTake: (draft: Draft) => void
}

/** A configuration as text, pasted or from a file, into the form. */
export const ImportConfig = (props: Props) => (
  <Popover
    title="Paste a configuration"
    className="button button-quiet button-icon"
    testId="import-config"
    label={<ImportIcon />}
  >
    {(close) => <ImportPanel {...props} close={close} />}
  </Popover>
)

const ImportPanel = ({ example, fill, onTake, close }: Props & { readonly close: () => void }) => {
  const [text, setText] = useState('')
  const [problem, setProblem] = useState<string | null>(null)
  const take = (given: string): void => {
    const parsed = parseDraft(given, fill)
    if (!parsed.ok) {
      setProblem(parsed.problem)
      return
    }
    onTake(parsed.draft)
    close()
  }
  const read = (file: File | undefined): void => {
    file?.text().then(take, (error: unknown) => {
      setProblem(`The file cannot be read: ${error instanceof Error ? error.message : String(error)}`)
    })
  }
  return (
    <div className="import">
      <textarea
        className="input import-text"
        aria-label="Configuration as JSON"
        placeholder={example}
        spellCheck={false}
        // biome-ignore lint/a11y/noAutofocus: the panel was opened to paste into it
        autoFocus
        value={text}
        onChange={(event) => {
          setText(event.target.value)
          setProblem(null)
        }}
      />
      {problem === null ? null : (
        <p className="field-issue" role="alert">
          {problem}
        </p>
      )}
      <div className="import-actions">
        <label className="button">
          From a file…
          <input
            type="file"
            className="visually-hidden"
            accept=".json,application/json"
            onChange={(event) => read(event.target.files?.[0])}
          />
        </label>
        <button
          type="button"
          className="button button-primary"
          disabled={text.trim() === ''}
          onClick={() => take(text)}
        >
          Use it
        </button>
      </div>
      <p className="quiet import-note">
        What it leaves out takes its default. Undo brings the present one back.
      </p>
    </div>
  )
}
