import { formatInt, formatNs } from '../drawing/format.ts'
import type { Selection } from '../state/selection.ts'

/** Parts of the selection from the run inwards, and what each is called. */
export const PARTS: readonly { readonly key: keyof Selection; readonly word: string }[] = [
  { key: 'step', word: 'step' },
  { key: 'layer', word: 'layer' },
  { key: 'rank', word: 'rank' },
  { key: 'request', word: 'request' },
  { key: 'qIndex', word: 'query' },
  { key: 'head', word: 'head' },
  { key: 'token', word: 'token' },
  { key: 'page', word: 'page' },
  { key: 'timeNs', word: 'at' },
  { key: 'context', word: 'context' },
  { key: 'concurrency', word: 'concurrency' },
]

export const valueText = (key: keyof Selection, value: number): string =>
  key === 'timeNs' ? formatNs(value) : formatInt(value)

/** The selection in words: `step 3, rank 1`; '' where nothing is selected. */
export const selectionText = (selection: Selection): string =>
  PARTS.flatMap(({ key, word }) => {
    const value = selection[key]
    return value === null ? [] : [`${word} ${valueText(key, value)}`]
  }).join(', ')
