import { runConfigSchema } from '../../../app/run/config.ts'
import { type FormSection, formOf } from '../../controls/form/form-schema.ts'

/** The form of a run. */
export const RUN_FORM: readonly FormSection[] = formOf(runConfigSchema)
