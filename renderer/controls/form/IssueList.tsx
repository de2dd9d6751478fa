import { controlId } from './ControlView.tsx'
import { useForm } from './form-context.ts'
import type { FormSection } from './form-schema.ts'
import { belongs, MOST_SHOWN } from './issues.ts'
import { useSections } from './sections.ts'

/** The control of the nearest field that has one: an issue may name an entry of a list. */
const controlOf = (path: string): HTMLElement | null => {
  const exact = document.getElementById(controlId(path))
  const outer = path.replace(/(\[\d+\]|\.[^.[\]]+)$/, '')
  return exact ?? (outer === path || outer === '' ? null : controlOf(outer))
}

const focusField = (path: string): void => {
  const control = controlOf(path)
  control?.scrollIntoView({ block: 'center' })
  const inner =
    control?.matches('input, select, button') === true
      ? control
      : control?.querySelector('input, select, button')
  if (inner instanceof HTMLElement) inner.focus()
}

interface Props {
  readonly sections: readonly FormSection[]
  /** What cannot run: `configuration`. */
  readonly what: string
}

/** Everything that keeps the configuration from running, with the way to each place. */
export const IssueList = ({ sections, what }: Props) => {
  const { issues } = useForm()
  const reveal = useSections((s) => s.reveal)
  if (issues.length === 0) return null
  const go = (path: string): void => {
    const section = sections.find((one) => belongs(path, one))
    if (section !== undefined) reveal(section.key)
    // The section may have to open first.
    requestAnimationFrame(() => focusField(path))
  }
  return (
    <div className="form-issues" role="status" data-testid="form-issues">
      <p>
        {issues.length === 1 ? 'One thing keeps' : `${issues.length} things keep`} this {what} from running:
      </p>
      <ul>
        {issues.slice(0, MOST_SHOWN).map(({ path, message }) => (
          <li key={`${path} ${message}`}>
            <button type="button" onClick={() => go(path)}>
              {path === '' ? what : path}
            </button>{' '}
            {message}
          </li>
        ))}
        {issues.length > MOST_SHOWN ? <li>and {issues.length - MOST_SHOWN} more</li> : null}
      </ul>
    </div>
  )
}
