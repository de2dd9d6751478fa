import { valueAt } from '../../state/config-path.ts'
import { ControlView } from './ControlView.tsx'
import { useForm } from './form-context.ts'
import type { FormField } from './form-schema.ts'
import { useIssuesAt } from './issues.ts'
import { unitText } from './unit-text.ts'

interface Props {
  readonly path: string
  readonly field: FormField
  readonly onHint: (field: FormField) => void
}

/** Label, control, unit and, where the value breaks a rule, the rule. */
export const FieldRow = ({ path, field, onHint }: Props) => {
  const { draft, set, settle, fixedAt, barredAt, idleAt } = useForm()
  const fixed = fixedAt(path)
  const value = fixed === null ? valueAt(draft, path) : fixed.value
  const issues = useIssuesAt(path)
  const barred = barredAt(path)
  const idle = idleAt(path)
  // What is on can always be switched off again.
  const locked = fixed !== null || (idle !== null && (value === undefined || value === field.fallback))
  const wide = field.control.kind === 'table'
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset for one control would only add noise
    <div
      role="group"
      aria-label={field.title}
      className={wide ? 'field field-wide' : 'field'}
      data-path={path}
      onFocus={() => onHint(field)}
      onPointerEnter={() => onHint(field)}
    >
      {field.key === '' ? null : <span className="field-title">{field.title}</span>}
      <span className="field-control">
        <ControlView
          path={path}
          field={field}
          control={field.control}
          value={value}
          invalid={issues.length > 0}
          barred={barred}
          locked={locked}
          onChange={set}
          onSettle={settle}
        />
        {wide ? null : (
          <span className="field-unit">{locked ? (fixed?.by ?? idle) : unitText(field, value)}</span>
        )}
      </span>
      {[...barred].map(([word, reason]) => (
        <p key={word} className="field-note" data-testid={`barred-${word}`}>
          {word} is not possible: {reason}
        </p>
      ))}
      {issues.map((issue) => (
        <p key={`${issue.path} ${issue.message}`} className="field-issue" role="alert">
          {issue.path === path ? '' : `${issue.path.slice(path.length).replace(/^\./, '')} `}
          {issue.message}
        </p>
      ))}
    </div>
  )
}
