/** A typed number; text that is none stays text, so that the check of the configuration can say so. */
export const valueOfText = (text: string): number | string | undefined => {
  const plain = text.replace(/[\s_\u2009]/g, '')
  if (plain === '') return undefined
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain) ? Number(plain) : text.trim()
}

/** Numbers of a list that is written with commas; what is no number stays text. */
export const listOfText = (text: string): (number | string)[] =>
  text
    .split(/[,;]/)
    .map(valueOfText)
    .filter((entry) => entry !== undefined)

export const textOfValue = (value: unknown): string =>
  value === undefined || value === null
    ? ''
    : typeof value === 'object'
      ? JSON.stringify(value)
      : String(value)

export const textOfList = (value: unknown): string =>
  Array.isArray(value) ? value.map(textOfValue).join(', ') : textOfValue(value)

/** The value after a step with an arrow key, kept within the limits; null when the present one is no number. */
export const stepped = (
  value: unknown,
  by: number,
  { min = -Infinity, max = Infinity }: { readonly min?: number; readonly max?: number },
): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? Math.min(max, Math.max(min, value + by)) : null
