/** How well words fit a text, and which of its characters they are. */
export interface Match {
  readonly score: number
  /** Indices into the text, rising. */
  readonly at: readonly number[]
}

/** For a character that begins a word of the text, and for one that follows the one before. */
const START = 6
const RUN = 8
/** For a first character within a word, and for a gap into one. */
const WITHIN = -4
const SCATTERED = -8
/** Of the most that a word can have; with less its letters are only scattered over the text. */
const LEAST_SHARE = 0.5

interface Best {
  readonly score: number
  readonly at: readonly number[]
}

const isWordStart = (text: string, i: number): boolean =>
  !/[\p{L}\p{N}]/u.test(text[i - 1] ?? ' ') && /[\p{L}\p{N}]/u.test(text[i] ?? ' ')

/**
 * The best way to find the characters of one word in `text` in their order, with gaps: beginnings of words and runs count
 * for it, what lies within words against it. Null where they are not there, or only scattered.
 */
const matchWord = (word: string, text: string): Best | null => {
  // best[i]: the word up to now with its last character at i.
  let best: (Best | null)[] = []
  for (const [n, wanted] of [...word].entries()) {
    let before: Best | null = n === 0 ? { score: 0, at: [] } : null
    const next: (Best | null)[] = []
    for (let i = 0; i < text.length; i++) {
      const run = n === 0 ? null : (best[i - 1] ?? null)
      // `before` is the best that ends at least one character away.
      const far = n === 0 ? null : (best[i - 2] ?? null)
      if (far !== null && (before === null || far.score > before.score)) before = far
      if (text[i] !== wanted) {
        next.push(null)
        continue
      }
      const alone = isWordStart(text, i) ? START : n === 0 ? WITHIN : SCATTERED
      const apart = before === null ? null : { score: before.score + alone, at: [...before.at, i] }
      const together = run === null ? null : { score: run.score + RUN, at: [...run.at, i] }
      next.push(together !== null && together.score >= (apart?.score ?? -Infinity) ? together : apart)
    }
    best = next
  }
  const most = START + RUN * (word.length - 1)
  const found = best.reduce((a, b) => (b !== null && b.score > (a?.score ?? 0) ? b : a), null)
  return found !== null && found.score >= most * LEAST_SHARE ? found : null
}

/** Finds each word of `words` in `text`, in any order; null where one is not there, or only in scattered letters. */
export const match = (words: string, text: string): Match | null => {
  const wanted = words
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  const found = wanted.map((word) => matchWord(word, text.toLowerCase()))
  if (found.some((one) => one === null)) return null
  const parts = found.filter((one) => one !== null)
  return {
    // Of texts that fit alike the shorter one comes first.
    score: parts.reduce((sum, { score }) => sum + score, 0) - text.length / 100,
    at: [...new Set(parts.flatMap(({ at }) => at))].sort((a, b) => a - b),
  }
}
