import type { FormField } from './form-schema.ts'

/** What stands behind a control: the unit of a number, nothing behind a word, and that 0 is off where it is the default. */
export const unitText = ({ control, fallback, unit }: FormField, value: unknown): string => {
  const shown = value ?? fallback
  if (control.kind !== 'either' || control.other.kind !== 'number') return unit
  if (typeof shown === 'string' && control.options.includes(shown)) return ''
  return shown === 0 && fallback === 0 ? 'off' : unit
}
