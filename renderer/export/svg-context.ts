import { arcPath, arcToPath, type Point } from './svg-arcs.ts'
import { attributes, escapeText, fontOf, type Paint, paintOf } from './svg-text.ts'

/** What was drawn, as SVG without its root, in CSS pixels. */
export interface Recording {
  readonly body: string
  readonly defs: string
}

/** State that a canvas keeps for `save` and that cannot be read back from it. */
interface Kept {
  readonly clip: string | null
}

type Method = (...args: never[]) => unknown

/** Members that neither draw nor change what later drawings look like beyond what the canvas itself remembers. */
const PASSED: ReadonlySet<string> = new Set([
  'createImageData',
  'getContextAttributes',
  'getImageData',
  'getLineDash',
  'getTransform',
  'isPointInPath',
  'measureText',
  'resetTransform',
  'rotate',
  'scale',
  'setLineDash',
  'setTransform',
  'transform',
  'translate',
])

const round = (x: number): string => String(Math.round(x * 1000) / 1000)

/**
 * A context that draws on `real` as before and writes down what is drawn as SVG. `scale` is the transformation that `real` has at
 * the beginning: device pixels of a CSS pixel. Colours, fonts and transformations are read back from `real`, so what
 * they mean is the browser's. A drawing method that is not known here throws: nothing is left out in silence.
 */
export const recording = (
  real: CanvasRenderingContext2D,
  scale: number,
): { readonly context: CanvasRenderingContext2D; readonly take: () => Recording } => {
  const body: string[] = []
  const defs: string[] = []
  const patterns = new Map<CanvasPattern, { readonly href: string; readonly size: Point }>()
  /** Ids by what the pattern looks like: some are made anew for each drawing. */
  const definedPatterns = new Map<string, string>()
  const saved: Kept[] = []
  let clip: string | null = null
  let path = ''
  let at: Point = { x: 0, y: 0 }
  let number = 0

  const define = (markup: (id: string) => string): string => {
    const id = `d${++number}`
    defs.push(markup(id))
    return id
  }

  const place = (): string | undefined => {
    const { a, b, c, d, e, f } = real.getTransform()
    const parts = [a, b, c, d, e, f].map((part) => round(part / scale))
    return parts.join(' ') === '1 0 0 1 0 0' ? undefined : `matrix(${parts.join(' ')})`
  }

  const emit = (name: string, given: Parameters<typeof attributes>[0], content?: string): void => {
    const all = attributes({
      ...given,
      opacity: real.globalAlpha === 1 ? undefined : round(real.globalAlpha),
    })
    const shape = content === undefined ? `<${name}${all}/>` : `<${name}${all}>${content}</${name}>`
    // A group has the clip, since that is in the units of the whole and not of what was moved.
    const element = clip === null ? shape : `<g clip-path="url(#${clip})">${shape}</g>`
    if (real.globalCompositeOperation === 'destination-over') body.unshift(element)
    else if (real.globalCompositeOperation === 'source-over') body.push(element)
    else throw new Error(`${real.globalCompositeOperation} cannot be drawn as SVG`)
  }

  const patternOf = (pattern: CanvasPattern): string => {
    const tile = patterns.get(pattern)
    if (tile === undefined) throw new Error('a texture of another canvas cannot be drawn as SVG')
    const known = definedPatterns.get(tile.href)
    if (known !== undefined) return known
    const { x: width, y: height } = tile.size
    const id = define(
      (name) =>
        `<pattern${attributes({ id: name, width, height, patternUnits: 'userSpaceOnUse' })}>` +
        `<image${attributes({ width, height, href: tile.href })}/></pattern>`,
    )
    definedPatterns.set(tile.href, id)
    return id
  }

  const paint = (style: string | CanvasGradient | CanvasPattern): Paint => {
    if (typeof style === 'string') return paintOf(style)
    if (style instanceof CanvasPattern) return { colour: `url(#${patternOf(style)})` }
    throw new Error('a gradient cannot be drawn as SVG')
  }

  const filled = () => {
    const { colour, opacity } = paint(real.fillStyle)
    return { fill: colour, 'fill-opacity': opacity }
  }
  const stroked = () => {
    const { colour, opacity } = paint(real.strokeStyle)
    const dash = real.getLineDash()
    return {
      fill: 'none',
      stroke: colour,
      'stroke-opacity': opacity,
      'stroke-width': real.lineWidth,
      'stroke-dasharray': dash.length === 0 ? undefined : dash.join(' '),
      'stroke-linejoin': real.lineJoin === 'miter' ? undefined : real.lineJoin,
      'stroke-linecap': real.lineCap === 'butt' ? undefined : real.lineCap,
    }
  }

  const box = (x: number, y: number, width: number, height: number) => ({
    x: round(Math.min(x, x + width)),
    y: round(Math.min(y, y + height)),
    width: round(Math.abs(width)),
    height: round(Math.abs(height)),
    transform: place(),
  })

  const picture = (href: string, where: Parameters<typeof attributes>[0]): void =>
    emit('image', {
      href,
      ...where,
      preserveAspectRatio: 'none',
      'image-rendering': real.imageSmoothingEnabled ? undefined : 'pixelated',
    })

  const go = (command: string, ...points: number[]): void => {
    path += `${command}${points.map(round).join(' ')}`
    at = { x: points.at(-2) ?? at.x, y: points.at(-1) ?? at.y }
  }
  /** To where a curve begins: by a line, or from nowhere. */
  const reach = ({ x, y }: Point): void => go(path === '' ? 'M' : 'L', x, y)

  /** Methods whose effect is written down; each is called on the canvas as well. */
  const written: Readonly<Record<string, Method>> = {
    clearRect: () => {},
    fillRect: (x: number, y: number, width: number, height: number) =>
      emit('rect', { ...box(x, y, width, height), ...filled() }),
    strokeRect: (x: number, y: number, width: number, height: number) =>
      emit('rect', { ...box(x, y, width, height), ...stroked() }),
    beginPath: () => {
      path = ''
    },
    closePath: () => {
      path += 'Z'
    },
    moveTo: (x: number, y: number) => go('M', x, y),
    lineTo: (x: number, y: number) => reach({ x, y }),
    bezierCurveTo: (...points: number[]) => go('C', ...points),
    quadraticCurveTo: (...points: number[]) => go('Q', ...points),
    rect: (x: number, y: number, width: number, height: number) => {
      path += `M${round(x)} ${round(y)}h${round(width)}v${round(height)}h${round(-width)}Z`
      at = { x, y }
    },
    arc: (x: number, y: number, radius: number, from: number, to: number, back = false) => {
      const arc = arcPath({ x, y }, radius, from, to, back)
      reach(arc.start)
      path += arc.path
      at = arc.end
    },
    arcTo: (x1: number, y1: number, x2: number, y2: number, radius: number) => {
      const arc = arcToPath(at, { x: x1, y: y1 }, { x: x2, y: y2 }, radius)
      reach(arc.start)
      path += arc.path
      at = arc.end
    },
    fill: (rule?: unknown) => {
      if (rule !== undefined) throw new Error('fill with a rule or a path cannot be drawn as SVG')
      if (path !== '') emit('path', { d: path, ...filled(), transform: place() })
    },
    stroke: (other?: unknown) => {
      if (other !== undefined) throw new Error('stroke of a path of its own cannot be drawn as SVG')
      if (path !== '') emit('path', { d: path, ...stroked(), transform: place() })
    },
    clip: () => {
      const outer = clip
      clip = define(
        (id) =>
          `<clipPath${attributes({ id, 'clip-path': outer === null ? undefined : `url(#${outer})` })}>` +
          `<path${attributes({ d: path, transform: place() })}/></clipPath>`,
      )
    },
    fillText: (text: string, x: number, y: number) => {
      const { top, end } = measured(real, text)
      emit(
        'text',
        {
          ...{ x: round(x), y: round(y + top), ...fontOf(real.font), ...filled(), transform: place() },
          'text-anchor': end === 'start' ? undefined : end,
          'xml:space': 'preserve',
        },
        escapeText(text),
      )
    },
    drawImage: (image: CanvasImageSource, ...where: number[]) => {
      const [x = 0, y = 0, width, height] = where
      if (!(image instanceof HTMLCanvasElement) || where.length > 4)
        throw new Error('only a whole canvas can be drawn into SVG')
      picture(image.toDataURL(), box(x, y, width ?? image.width, height ?? image.height))
    },
    putImageData: (image: ImageData, x: number, y: number) => {
      const canvas = document.createElement('canvas')
      canvas.width = image.width
      canvas.height = image.height
      canvas.getContext('2d')?.putImageData(image, 0, 0)
      // Pixels are put as they are, whatever transformation and clip.
      const outer = clip
      clip = null
      const [left, top, width, height] = [x, y, image.width, image.height].map((part) => part / scale)
      picture(canvas.toDataURL(), { x: left, y: top, width, height })
      clip = outer
    },
    save: () => {
      saved.push({ clip })
    },
    restore: () => {
      const before = saved.pop()
      if (before !== undefined) clip = before.clip
    },
  }

  const context = new Proxy(real, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name, target)
      if (typeof member !== 'function') return member
      if (name === 'createPattern')
        return (image: CanvasImageSource, repeat: string | null) => {
          const pattern = target.createPattern(image, repeat)
          if (pattern !== null && image instanceof HTMLCanvasElement && repeat === 'repeat')
            patterns.set(pattern, { href: image.toDataURL(), size: { x: image.width, y: image.height } })
          return pattern
        }
      const write = typeof name === 'string' ? written[name] : undefined
      if (write === undefined && !PASSED.has(String(name)))
        throw new Error(`${String(name)} cannot be drawn as SVG`)
      return (...args: never[]): unknown => {
        write?.(...args)
        return Reflect.apply(member, target, args)
      }
    },
    set: (target, name, value) => Reflect.set(target, name, value, target),
  })
  return { context, take: () => ({ body: body.join(''), defs: defs.join('') }) }
}

const ENDS: Readonly<Record<CanvasTextAlign, 'start' | 'middle' | 'end'>> = {
  left: 'start',
  start: 'start',
  center: 'middle',
  right: 'end',
  end: 'end',
}

/** How far the foot of letters lies below the y that a text is drawn at, and which of its ends x is: not all viewers know baselines. */
const measured = (
  real: CanvasRenderingContext2D,
  text: string,
): { readonly top: number; readonly end: 'start' | 'middle' | 'end' } => {
  const above = (): number => real.measureText(text).fontBoundingBoxAscent
  const baseline = real.textBaseline
  const now = above()
  real.textBaseline = 'alphabetic'
  const top = above() - now
  real.textBaseline = baseline
  return { top, end: ENDS[real.textAlign] }
}
