import { runConfigSchema } from '../../../app/run/config.ts'
import { isBaseField } from '../../../app/sweep/base.ts'
import { sweepConfigSchema } from '../../../app/sweep/config.ts'
import { type FormSection, fieldsOf, formOf } from '../../controls/form/form-schema.ts'

const POINTS = {
  mode: true,
  dcp: true,
  comm: true,
  kvDtype: true,
  qLen: true,
  context: true,
  concurrency: true,
} as const
const MEASUREMENT = { repeats: true, warmup: true, steps: true } as const
const PARTS = { memory: true, collectives: true } as const

/** Parts of a run of which a sweep leaves anything to its base. */
const baseSections = (): FormSection[] =>
  formOf(runConfigSchema).flatMap((section): FormSection[] => {
    const fields = section.fields.filter(({ key }) => isBaseField(`${section.key}.${key}`))
    const path = `base.${section.path}`
    return isBaseField(section.key) && fields.length > 0
      ? [{ ...section, key: path, path, title: `Base: ${section.title}`, fields }]
      : []
  })

/** The form of a sweep: what varies, how it is measured, then the run that it varies. */
export const SWEEP_FORM: readonly FormSection[] = [
  {
    key: 'points',
    path: '',
    title: 'Points',
    description: 'Every combination of these lists is a point.',
    fields: fieldsOf(sweepConfigSchema.pick(POINTS)),
  },
  {
    key: 'measurement',
    path: '',
    title: 'Measurement',
    description: 'How often and how long each point is measured.',
    fields: fieldsOf(sweepConfigSchema.pick(MEASUREMENT)),
  },
  ...baseSections(),
  ...formOf(sweepConfigSchema.pick(PARTS)),
]
