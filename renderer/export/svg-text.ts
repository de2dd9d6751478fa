const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what XML does not allow, escaped or not
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g

/** Text as it stands in SVG; what XML cannot hold at all becomes the replacement character. */
export const escapeText = (text: string): string =>
  text.replace(FORBIDDEN, '\ufffd').replace(/[&<>"]/g, (character) => ESCAPES[character] ?? character)

/** Attributes with a space before each; those that are undefined are left out. */
export const attributes = (all: Readonly<Record<string, string | number | undefined>>): string =>
  Object.entries(all)
    .map(([name, value]) => (value === undefined ? '' : ` ${name}="${escapeText(String(value))}"`))
    .join('')

/** A colour as most viewers of SVG take it: without its opacity. */
export interface Paint {
  readonly colour: string
  readonly opacity?: number
}

/** Takes the opacity out of a colour as a canvas or a style sheet gives it back. */
export const paintOf = (colour: string): Paint => {
  const parts = /^rgba\((\d+), (\d+), (\d+), ([\d.]+)\)$/.exec(colour)
  if (parts === null) return { colour }
  const [, red, green, blue, opacity] = parts
  return { colour: `rgb(${red}, ${green}, ${blue})`, opacity: Number(opacity) }
}

/** Attributes of a canvas font, such as `italic bold 11px ui-monospace, monospace`. */
export const fontOf = (font: string): Readonly<Record<string, string | undefined>> => {
  const [, before = '', size, family] = /^(.*?)([\d.]+)px (.+)$/.exec(font) ?? []
  const weight = /\b(bold|[1-9]00)\b/.exec(before)?.[1]
  return {
    'font-family': family,
    'font-size': size,
    'font-weight': weight,
    'font-style': before.includes('italic') ? 'italic' : undefined,
  }
}
