import { useState } from 'react'
import { BackendNotes } from './BackendNotes.tsx'
import { FormToolbar } from './FormToolbar.tsx'
import type { FormField } from './form-schema.ts'
import { RUN_FORM } from './form-schema.ts'
import { IssueList } from './IssueList.tsx'
import { Section } from './Section.tsx'

/** The configuration of the next run, as the schema describes it. */
export const ConfigForm = () => {
  const [hint, setHint] = useState<FormField | null>(null)
  return (
    <section className="run-form" aria-label="Configuration">
      <FormToolbar />
      <IssueList />
      <BackendNotes />
      <div className="form-sections">
        {RUN_FORM.map((section) => (
          <Section key={section.key} section={section} onHint={setHint} />
        ))}
      </div>
      <p className="form-hint" aria-hidden="true">
        {hint === null ? (
          'Point at a field to read what it does.'
        ) : (
          <>
            <b>{hint.title}.</b> {hint.description}
          </>
        )}
      </p>
    </section>
  )
}
