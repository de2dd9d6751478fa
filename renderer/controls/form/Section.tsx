import { DownIcon, NextIcon } from '../../shell/icons.tsx'
import { isRecord, valueAt } from '../../state/config-path.ts'
import { FieldRow } from './FieldRow.tsx'
import { useForm } from './form-context.ts'
import type { FormField, FormSection } from './form-schema.ts'
import { belongs, pathIn } from './issues.ts'
import { useSections } from './sections.ts'

interface Props {
  readonly section: FormSection
  readonly onHint: (field: FormField) => void
}

const summaryOf = (value: unknown): string =>
  Array.isArray(value)
    ? value.length === 0
      ? 'none'
      : String(value.length)
    : isRecord(value)
      ? Object.values(value)
          .filter((v) => typeof v !== 'object')
          .map(String)
          .join(' · ')
      : ''

/** A part of the configuration. Fields without a default are rarely needed and stand behind "more". */
export const Section = ({ section, onHint }: Props) => {
  const { open, more, toggle, toggleMore } = useSections()
  const { draft, issues: all, elsewhere } = useForm()
  const issues = all.filter((issue) => belongs(issue.path, section))
  const part = section.path === '' ? draft : valueAt(draft, section.path)
  const isOpen = open[section.key] === true || issues.length > 0
  const fields = section.fields
    .map((field) => ({ field, path: pathIn(section, field) }))
    .filter(({ path }) => path !== elsewhere)
  const isShown = ({ field, path }: { readonly field: FormField; readonly path: string }): boolean =>
    !field.optional ||
    more[section.key] === true ||
    (isRecord(part) && part[field.key] !== undefined) ||
    issues.some((issue) => issue.path.startsWith(path))
  const shown = fields.filter(isShown)
  const hidden = fields.length - shown.length
  return (
    <section className="form-section" aria-label={section.title}>
      <h3>
        <button
          type="button"
          className="section-head"
          aria-expanded={isOpen}
          title={section.description}
          onClick={() => toggle(section.key)}
        >
          {isOpen ? <DownIcon /> : <NextIcon />}
          {section.title}
          {isOpen || section.path === '' ? null : <span className="section-summary">{summaryOf(part)}</span>}
          {issues.length === 0 ? null : <span className="badge badge-bad">{issues.length}</span>}
        </button>
      </h3>
      {isOpen ? (
        <div className="section-fields">
          {shown.map(({ field, path }) => (
            <FieldRow key={path} path={path} field={field} onHint={onHint} />
          ))}
          {hidden > 0 || more[section.key] === true ? (
            <button type="button" className="section-more" onClick={() => toggleMore(section.key)}>
              {more[section.key] === true ? 'fewer' : `more (${hidden})`}
            </button>
          ) : null}
        </div>
      ) : null}
    </section>
  )
}
