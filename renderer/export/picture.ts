import { drawingOf } from '../drawing/canvas.ts'
import { inkOf } from '../drawing/ink.ts'
import { styledCopy } from './styled-copy.ts'
import { recording } from './svg-context.ts'
import { attributes, escapeText, fontOf } from './svg-text.ts'

/** What a picture says of itself below it, once it is alone. */
export interface Caption {
  readonly title: string
  /** Where its numbers come from: run, and what was not measured. */
  readonly source: string
}

export interface SvgPicture {
  readonly text: string
  /** CSS pixels. */
  readonly width: number
  readonly height: number
}

/** Pixels of a CSS pixel in what is saved as pixels, so that it stays sharp in a document. */
const PNG_SCALE = 2
const FOOT = 26
const EDGE = 8

/** Draws a canvas of the page once more, on one beside it that nobody sees, and writes it down. */
const canvasBody = (shown: HTMLCanvasElement): { readonly body: string; readonly defs: string } => {
  const draw = drawingOf(shown)
  if (draw === undefined) throw new Error('this canvas does not say how it is drawn')
  const { clientWidth: width, clientHeight: height } = shown
  const scale = Math.max(PNG_SCALE, window.devicePixelRatio)
  const canvas = document.createElement('canvas')
  canvas.width = Math.round(width * scale)
  canvas.height = Math.round(height * scale)
  const real = canvas.getContext('2d')
  if (real === null) throw new Error('there is no memory for another canvas')
  real.setTransform(scale, 0, 0, scale, 0, 0)
  const { context, take } = recording(real, scale)
  draw(context, width, height, scale)
  return take()
}

const svgBody = (shown: SVGSVGElement): { readonly body: string; readonly defs: string } => ({
  body: new XMLSerializer().serializeToString(styledCopy(shown)),
  defs: '',
})

/** A canvas or an SVG of the page as an SVG of its own, with ground and caption. */
export const svgOf = (shown: HTMLCanvasElement | SVGSVGElement, { title, source }: Caption): SvgPicture => {
  const { width, height } = shown.getBoundingClientRect()
  if (width < 1 || height < 1) throw new Error('the picture is not on the screen now')
  const { body, defs } = shown instanceof HTMLCanvasElement ? canvasBody(shown) : svgBody(shown)
  const ink = inkOf()
  const whole = height + FOOT
  const text =
    `<svg${attributes({ xmlns: 'http://www.w3.org/2000/svg', width, height: whole, viewBox: `0 0 ${width} ${whole}` })}>` +
    `<title>${escapeText(title)}</title><desc>${escapeText(source)}</desc>` +
    `<defs>${defs}<clipPath id="frame"><rect${attributes({ width, height })}/></clipPath></defs>` +
    `<rect${attributes({ width, height: whole, fill: ink.bg1 })}/>` +
    `<g clip-path="url(#frame)">${body}</g>` +
    `<text${attributes({ x: EDGE, y: height + FOOT - 9, ...fontOf(`11px ${ink.ui}`), fill: ink.text1 })}>` +
    `${escapeText([title, source].filter((part) => part !== '').join(' · '))}</text></svg>`
  return { text, width, height: whole }
}

/** A picture as PNG. */
export const pngOf = async ({ text, width, height }: SvgPicture): Promise<Uint8Array<ArrayBuffer>> => {
  const address = URL.createObjectURL(new Blob([text], { type: 'image/svg+xml' }))
  try {
    const image = new Image()
    image.src = address
    await image.decode()
    const canvas = document.createElement('canvas')
    canvas.width = Math.ceil(width * PNG_SCALE)
    canvas.height = Math.ceil(height * PNG_SCALE)
    const pen = canvas.getContext('2d')
    if (pen === null) throw new Error('there is no memory for the picture')
    pen.drawImage(image, 0, 0, canvas.width, canvas.height)
    const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, 'image/png'))
    if (blob === null) throw new Error('the picture is too large for a PNG; save it as SVG')
    return new Uint8Array(await blob.arrayBuffer())
  } finally {
    URL.revokeObjectURL(address)
  }
}
