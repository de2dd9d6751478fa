/** Strings, what separates, and brackets; the rest of a JSON text does not matter here. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:,]/gs

/**
 * The first key that an object has twice, of the two outer levels of valid JSON; undefined when there is none.
 * JSON.parse keeps the last one in silence, and another reader may keep the first.
 */
export const duplicateKey = (json: string): string | undefined => {
  const levels: Set<string>[] = []
  let depth = 0
  let text = ''
  for (const [token] of json.matchAll(TOKEN)) {
    if (token === '{' || token === '[') {
      depth++
      if (depth <= 2) levels[depth - 1] = new Set()
    } else if (token === '}' || token === ']') depth--
    else if (token === ':') {
      if (depth > 2) continue
      const key: unknown = JSON.parse(text)
      const seen = levels[depth - 1]
      if (typeof key !== 'string' || seen === undefined) continue
      if (seen.has(key)) return key
      seen.add(key)
    } else text = token
  }
  return undefined
}
