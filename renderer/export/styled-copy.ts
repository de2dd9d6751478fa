/** What style sheets say of a picture; as attributes they go where the style sheets do not. */
const PROPERTIES = [
  'fill',
  'fill-opacity',
  'stroke',
  'stroke-width',
  'stroke-opacity',
  'stroke-dasharray',
  'stroke-linecap',
  'stroke-linejoin',
  'opacity',
  'font-family',
  'font-size',
  'font-weight',
  'text-anchor',
  'dominant-baseline',
  'vector-effect',
  'visibility',
] as const

const copyStyle = (from: Element, to: Element): void => {
  const style = getComputedStyle(from)
  if (style.display === 'none') {
    to.setAttribute('display', 'none')
    return
  }
  for (const name of PROPERTIES) {
    const value = style.getPropertyValue(name)
    if (value !== '') to.setAttribute(name, value)
  }
  to.removeAttribute('class')
  to.removeAttribute('style')
  const [children, copies] = [from.children, to.children]
  for (const [i, child] of Array.from(children).entries()) {
    const copy = copies[i]
    if (copy !== undefined) copyStyle(child, copy)
  }
}

/** A copy of an SVG of the page that looks the same without its style sheets, at the size that it has there. */
export const styledCopy = (shown: SVGSVGElement): Node => {
  const copy = shown.cloneNode(true)
  if (!(copy instanceof SVGSVGElement)) throw new Error('only SVG can be copied')
  copyStyle(shown, copy)
  const { width, height } = shown.getBoundingClientRect()
  copy.setAttribute('width', String(width))
  copy.setAttribute('height', String(height))
  copy.setAttribute('font-size', getComputedStyle(shown).fontSize)
  return copy
}
