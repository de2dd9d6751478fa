import { useMemo } from 'react'
import { checkConfig } from '../../../app/backends/check.ts'
import { profileNamed } from '../../../app/backends/index.ts'
import { VERDICT_WORDS } from '../../../app/backends/words.ts'
import { FORM_LINE, useBackendPick } from '../../state/backend-pick.ts'
import { useRunForm } from '../../state/form.ts'
import { useView } from '../../state/view.ts'

/** The verdict of the back-end that the form names, and what it replaces. What it refuses stands among the issues. */
export const BackendNotes = () => {
  const config = useRunForm((s) => s.config)
  const show = useView((s) => s.show)
  const pick = useBackendPick((s) => s.pick)
  const checked = useMemo(() => (config === null ? null : checkConfig(config)), [config])
  if (checked === null || config?.serving.backend === undefined) return null
  const { backend, verdict, reasons } = checked
  const notes = reasons.filter((reason) => reason.verdict !== 'refused')
  return (
    <div className={`form-notes form-notes-${verdict}`} role="status" data-testid="backend-notes">
      <p>
        {profileNamed(backend).title}: {VERDICT_WORDS[verdict]};{' '}
        <button
          type="button"
          onClick={() => {
            pick(FORM_LINE, backend)
            show('backends')
          }}
        >
          compare back-ends
        </button>
      </p>
      <ul>
        {notes.map(({ rule, verdict: of, message, lost, source }) => (
          <li key={`${rule} ${message}`} title={source}>
            {of} ({rule}): {message}
            {lost === undefined ? '' : ` Lost: ${lost}.`}
          </li>
        ))}
      </ul>
    </div>
  )
}
