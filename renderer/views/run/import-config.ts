import { parseRunConfig } from '../../../app/run/parse.ts'
import { isRecord } from '../../state/config-path.ts'
import type { Draft } from '../../state/form.ts'

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

/** A draft from JSON text. A valid configuration is filled with its defaults; a wrong one is taken as it is, for the form to mark. */
export const parseDraft = (text: string): ImportedDraft => {
  if (text.length > MAX_CHARACTERS)
    return { ok: false, problem: `The text has more than ${MAX_CHARACTERS} characters.` }
  const value = parsedJson(text)
  if (value instanceof Error) return { ok: false, problem: `This is not JSON: ${value.message}` }
  if (!isRecord(value))
    return { ok: false, problem: 'A configuration is an object with the parts model, parallel and so on.' }
  const parsed = parseRunConfig(value)
  return { ok: true, draft: parsed.ok ? { ...parsed.config } : value }
}
