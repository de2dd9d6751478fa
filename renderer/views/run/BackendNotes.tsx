import { useMemo } from 'react'
import { checkConfig } from '../../../app/backends/check.ts'
import { profileNamed } from '../../../app/backends/index.ts'
import { useRunForm } from '../../state/form.ts'
import { useView } from '../../state/view.ts'

/** What the back-end of the form replaces, or accepts where one would not expect it. What it refuses stands among the issues. */
export const BackendNotes = () => {
  const config = useRunForm((s) => s.config)
  const show = useView((s) => s.show)
  const notes = useMemo(
    () => (config === null ? [] : checkConfig(config).reasons.filter(({ verdict }) => verdict !== 'refused')),
    [config],
  )
  if (config === null || notes.length === 0) return null
  const { title } = profileNamed(config.serving.backend)
  return (
    <div className="form-notes" role="status" data-testid="backend-notes">
      <p>
        {title}:{' '}
        <button type="button" onClick={() => show('backends')}>
          all back-ends
        </button>
      </p>
      <ul>
        {notes.map(({ rule, verdict, message, lost, source }) => (
          <li key={`${rule} ${message}`} title={source}>
            <b>{verdict}</b> ({rule}): {message}
            {lost === undefined ? '' : ` Lost: ${lost}.`}
          </li>
        ))}
      </ul>
    </div>
  )
}
