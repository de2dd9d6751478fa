import type { FormField } from './form-schema.ts'

/** What the field does that is pointed at. */
export const FormHint = ({ field }: { readonly field: FormField | null }) => (
  <p className="form-hint" aria-hidden="true">
    {field === null ? (
      'Point at a field to read what it does.'
    ) : (
      <>
        <b>{field.title}.</b> {field.description}
      </>
    )}
  </p>
)
