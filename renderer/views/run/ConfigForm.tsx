import { useState } from 'react'
import { FormHint } from '../../controls/form/FormHint.tsx'
import { FormProvider } from '../../controls/form/form-context.ts'
import type { FormField } from '../../controls/form/form-schema.ts'
import { IssueList } from '../../controls/form/IssueList.tsx'
import { Section } from '../../controls/form/Section.tsx'
import { BackendNotes } from './BackendNotes.tsx'
import { FormToolbar } from './FormToolbar.tsx'
import { RUN_FORM } from './run-form.ts'
import { useRunFormControl } from './use-run-form-control.ts'

/** The configuration of the next run, as the schema describes it. */
export const ConfigForm = () => {
  const [hint, setHint] = useState<FormField | null>(null)
  const form = useRunFormControl()
  return (
    <FormProvider value={form}>
      <section className="run-form" aria-label="Configuration">
        <FormToolbar />
        <IssueList sections={RUN_FORM} what="configuration" />
        <BackendNotes />
        <div className="form-sections">
          {RUN_FORM.map((section) => (
            <Section key={section.key} section={section} onHint={setHint} />
          ))}
        </div>
        <FormHint field={hint} />
      </section>
    </FormProvider>
  )
}
