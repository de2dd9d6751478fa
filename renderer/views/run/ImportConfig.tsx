import { useState } from 'react'
import { ImportIcon } from '../../shell/icons.tsx'
import { Popover } from '../../shell/Popover.tsx'
import { useRunForm } from '../../state/form.ts'
import { parseDraft } from './import-config.ts'

/** A configuration as text, pasted or from a file, into the form. */
export const ImportConfig = () => (
  <Popover
    title="Paste a configuration"
    className="button button-quiet button-icon"
    testId="import-config"
    label={<ImportIcon />}
  >
    {(close) => <ImportPanel close={close} />}
  </Popover>
)

const ImportPanel = ({ close }: { readonly close: () => void }) => {
  const replace = useRunForm((s) => s.replace)
  const [text, setText] = useState('')
  const [problem, setProblem] = useState<string | null>(null)
  const take = (given: string): void => {
    const parsed = parseDraft(given)
    if (!parsed.ok) {
      setProblem(parsed.problem)
      return
    }
    replace(parsed.draft)
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
        placeholder='{ "parallel": { "dcpSize": 8, "tpSize": 8 } }'
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
