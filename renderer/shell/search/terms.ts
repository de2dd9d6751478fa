import { OUTER_STAGES, STAGES, type Stage } from '../../../app/trace/stages.ts'

/** What a number in a search may be of. */
export const NUMBERED = [
  'step',
  'layer',
  'rank',
  'request',
  'head',
  'query',
  'token',
  'page',
  'column',
] as const
export type Numbered = (typeof NUMBERED)[number]

/** What a person searches for. */
export interface Terms {
  readonly numbers: Readonly<Partial<Record<Numbered, number>>>
  /** A number of which nothing is said. */
  readonly bare: number | null
  readonly stages: readonly Stage[]
  /** Lower case; of events. */
  readonly words: readonly string[]
}

const LEAST_LETTERS = 2

/** The kind that a word begins: `req` is request; undefined for none or several. */
const numberedOf = (word: string): Numbered | undefined => {
  const singular = word.length > LEAST_LETTERS ? word.replace(/s$/, '') : word
  const found = NUMBERED.filter(
    (name) => name === singular || (word.length >= LEAST_LETTERS && name.startsWith(word)),
  )
  return found.find((name) => name === singular) ?? (found.length === 1 ? found[0] : undefined)
}

/** Stages whose name has the word; never those that contain others. */
const stagesOf = (word: string): readonly Stage[] =>
  word.length < LEAST_LETTERS
    ? []
    : STAGES.filter((stage) => stage.includes(word) && !OUTER_STAGES.includes(stage))

const NUMBER = /^\d{1,15}$/

/**
 * Reads `token 1234`, `step40 rank:2 decode_attn`, `page=17`, `nan`: kinds with their numbers, names of stages or parts of
 * them, and words, of which events have all.
 */
export const termsOf = (text: string): Terms => {
  const parts = text
    .toLowerCase()
    // A thin space within a number, as the window writes it, belongs to it.
    .replace(/(\d)\u2009(?=\d)/g, '$1')
    .split(/[\s,;:=]+/)
    .flatMap(splitNumber)
    .filter((part) => part !== '')
  const numbers: Partial<Record<Numbered, number>> = {}
  const words: string[] = []
  let bare: number | null = null
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i] ?? ''
    const next = parts[i + 1] ?? ''
    const numbered = numberedOf(part)
    if (numbered !== undefined && NUMBER.test(next)) {
      numbers[numbered] = Number(next)
      i++
    } else if (NUMBER.test(part)) bare ??= Number(part)
    else words.push(part)
  }
  return { numbers, bare, stages: [...new Set(words.flatMap(stagesOf))], words: words.slice(0, 8) }
}

/** `step40` as its two parts, where the word is a kind. */
const splitNumber = (part: string): readonly string[] => {
  const [, word = '', number = ''] = /^([a-z]+)(\d+)$/.exec(part) ?? []
  return numberedOf(word) === undefined ? [part] : [word, number]
}
