import { shown } from './safetensors.ts'

/** More than the header of any dump has. */
const MAX_DEPTH = 3
const MAX_KEYS = 10_000
const MAX_DIMENSIONS = 16

const [QUOTE, BACKSLASH, COLON, COMMA] = [0x22, 0x5c, 0x3a, 0x2c]
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d]

/**
 * What keeps a header from being parsed, as a rule; undefined when nothing does. Goes once over the text, which need not be
 * JSON. Finds keys that an object has twice, of which JSON.parse keeps the last in silence and another reader may keep the
 * first; and what would take JSON.parse far more memory than the text.
 */
export const headerProblem = (json: string): string | undefined => {
  const levels: Level[] = []
  let key = ''
  for (let at = 0; at < json.length; at++) {
    const level = levels.at(-1)
    switch (json.charCodeAt(at)) {
      case QUOTE: {
        const end = stringEnd(json, at)
        key = json.slice(at, end + 1)
        at = end
        break
      }
      case OPEN_BRACE:
      case OPEN_BRACKET:
        if (levels.length === MAX_DEPTH) return 'has a header that is nested too deeply'
        levels.push({ keys: new Set(), commas: 0 })
        break
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        levels.pop()
        break
      case COLON: {
        const name = plainText(key)
        if (level?.keys.has(name)) return `has ${shown(name.slice(1, -1))} twice in its header`
        level?.keys.add(name)
        if (level !== undefined && level.keys.size > MAX_KEYS)
          return `has more than ${MAX_KEYS} names in its header`
        break
      }
      case COMMA:
        if (level === undefined) break
        level.commas++
        if (level.keys.size === 0 && level.commas >= MAX_DIMENSIONS)
          return `has a list of more than ${MAX_DIMENSIONS} numbers in its header`
    }
  }
  return undefined
}

interface Level {
  readonly keys: Set<string>
  commas: number
}

/** Place of the quote that ends the string which begins at `from`, or of the text's end. */
const stringEnd = (json: string, from: number): number => {
  for (let at = from + 1; at < json.length; at++) {
    const code = json.charCodeAt(at)
    if (code === BACKSLASH) at++
    else if (code === QUOTE) return at
  }
  return json.length
}

/** A string as it stands in the text, with escapes put in one form. */
const plainText = (quoted: string): string => {
  if (!quoted.includes('\\')) return quoted
  try {
    return JSON.stringify(JSON.parse(quoted))
  } catch {
    return quoted
  }
}
