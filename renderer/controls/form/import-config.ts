import { isRecord } from '../../state/config-path.ts'
import type { Draft } from '../../state/draft-form.ts'

const MAX_CHARACTERS = 1 << 20

export type ImportedDraft =
  | { readonly ok: true; readonly draft: Draft }
  | { readonly ok: false; readonly problem: string }

const parsedJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

/** A draft from JSON text; `fill` makes of an object what the form takes. */
export const parseDraft = (text: string, fill: (draft: Draft) => Draft): ImportedDraft => {
  if (text.length > MAX_CHARACTERS)
    return { ok: false, problem: `The text has more than ${MAX_CHARACTERS} characters.` }
  const value = parsedJson(text)
  if (value instanceof Error) return { ok: false, problem: `This is not JSON: ${value.message}` }
  return isRecord(value)
    ? { ok: true, draft: fill(value) }
    : { ok: false, problem: 'A configuration is an object with names and values, in braces.' }
}
