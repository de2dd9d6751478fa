import { STAGES, type Stage } from '../../../app/trace/stages.ts'
import { stageColour, stageHatched, stageInk, type Theme } from '../../theme/colours.ts'
import { shortKernelName } from './kernel-name.ts'
import { kernelTop, type Lanes, laneBottom, laneTop, outerTrack } from './lanes.ts'
import { type TimeRange, xOfTime } from './range.ts'
import { type LaneLine, type Rgb, rgbOf, SpanRaster } from './raster.ts'
import type { Scene } from './scene.ts'
import { firstOfRank, type TileItems } from './tiles.ts'

/** How much of its colour a dimmed stage keeps. */
const DIMMED = 0.14
/** Room beside a label; narrower spans stay without. */
const LABEL_PAD = 5
const MIN_LABEL_WIDTH = 26
/** Spans at least so wide, in pixels of the screen, are set off from the next one. */
const GAP_FROM = 5

/** The raster of a canvas and the image behind it. */
export interface Plate {
  readonly raster: SpanRaster
  readonly image: ImageData
}

/** The plate for a plot of this size in pixels of the screen; the given one when it fits. */
export const plateOf = (plate: Plate | null, width: number, height: number, dpr: number): Plate => {
  if (plate !== null && plate.image.width === width && plate.image.height === height) return plate
  const image = new ImageData(width, height)
  return { image, raster: new SpanRaster(width, height, image.data, dpr) }
}

interface Label {
  readonly x: number
  readonly width: number
  /** Width of the hatched beginning. */
  readonly hatched: number
  readonly y: number
  readonly stage: Stage
  readonly text: string
}

interface Paint {
  readonly colours: readonly Rgb[]
  readonly hatched: readonly boolean[]
  readonly dimmed: readonly boolean[]
}

const mixed = (a: Rgb, b: Rgb, share: number): Rgb => [
  a[0] + (b[0] - a[0]) * share,
  a[1] + (b[1] - a[1]) * share,
  a[2] + (b[2] - a[2]) * share,
]

const paintOf = (scene: Scene, theme: Theme, ground: Rgb): Paint => {
  const dimmed = STAGES.map((stage) => scene.dimmed.has(stage))
  return {
    colours: STAGES.map((stage, code) => {
      const colour = rgbOf(stageColour(stage, theme))
      return dimmed[code] === true ? mixed(ground, colour, DIMMED) : colour
    }),
    hatched: STAGES.map(stageHatched),
    dimmed,
  }
}

/**
 * Draws the spans of all visible lanes into the plate, whose left edge is the plot's and whose pixels are the
 * screen's, and gives the labels that have room.
 */
const rasterise = (scene: Scene, plate: Plate, dpr: number, paint: Paint, hatch: Rgb): Label[] => {
  const { lanes } = scene
  const { raster } = plate
  const labels: Label[] = []
  raster.clear()
  for (let rank = 0; rank < lanes.ranks; rank++) {
    const top = Math.round(laneTop(rank, lanes) * dpr)
    const bottom = Math.round((laneTop(rank, lanes) + lanes.laneHeight) * dpr)
    if (laneBottom(rank, lanes) <= lanes.rulerHeight || top >= raster.height) continue
    const shownTop = Math.max(top, Math.round(lanes.rulerHeight * dpr))
    for (const { tile, range } of scene.pieces)
      addItems(tile, range, rank, scene, raster.line, dpr, paint, labels)
    raster.put(shownTop, bottom, hatch)
    rasteriseKernels(rank, scene, raster, dpr, paint, hatch, labels)
    if (!scene.pieces.some(({ tile }) => tile.outer.rank.includes(rank))) continue
    for (const { tile, range } of scene.pieces)
      addItems(tile.outer, range, rank, scene, raster.line, dpr, paint, [])
    raster.put(shownTop, top + Math.round(outerTrack(lanes) * dpr), hatch)
  }
  return labels
}

/** The lane of a rank's recorded kernels, in the colours of their stages. */
const rasteriseKernels = (
  rank: number,
  scene: Scene,
  raster: SpanRaster,
  dpr: number,
  paint: Paint,
  hatch: Rgb,
  labels: Label[],
): void => {
  const { lanes } = scene
  if (lanes.kernelHeight === 0) return
  const own: Label[] = []
  const top = kernelTop(rank, lanes)
  for (const { tile, range } of scene.pieces)
    addItems(tile.kernels, range, rank, scene, raster.line, dpr, paint, own, (i) =>
      shortKernelName(tile.kernelNames[tile.kernels.name[i] ?? -1] ?? ''),
    )
  raster.put(
    Math.round(Math.max(top, lanes.rulerHeight) * dpr),
    Math.round((top + lanes.kernelHeight) * dpr),
    hatch,
  )
  labels.push(...own.map((label) => ({ ...label, y: top + lanes.kernelHeight / 2 })))
}

/** Adds the items of a rank over `range`, and labels where there is room: the stage, or what `textOf` gives. */
const addItems = (
  tile: TileItems,
  range: TimeRange,
  rank: number,
  scene: Scene,
  line: LaneLine,
  dpr: number,
  { colours, hatched, dimmed }: Paint,
  labels: Label[],
  textOf?: (i: number) => string,
): void => {
  const { lanes } = scene
  const width = line.width
  const left = Math.max(0, xOfTime(range.startNs, scene.range, width))
  const right = Math.min(width, xOfTime(range.endNs, scene.range, width))
  if (right <= left) return
  for (let i = firstOfRank(tile, rank); i < tile.rank.length && tile.rank[i] === rank; i++) {
    const start = tile.start[i] ?? 0
    const dur = tile.dur[i] ?? 0
    const from = xOfTime(start, scene.range, width)
    if (from >= right) return
    const end = xOfTime(start + dur, scene.range, width)
    if (end < left) continue
    const code = tile.stage[i] ?? 0
    const merged = (tile.count[i] ?? 1) > 1
    const share = merged && dur > 0 ? Math.min(1, (tile.busy[i] ?? 0) / dur) : 1
    const shownEnd = !merged && end - from >= GAP_FROM ? end - 1 : Math.max(end, from + 0.1)
    const [x0, x1] = [Math.max(left, from), Math.min(right, shownEnd)]
    line.add(x0, x1, share, colours[code] ?? [128, 128, 128])
    if (dimmed[code] === true) continue
    const wait = hatched[code] === true ? dur : (tile.wait[i] ?? 0)
    const waitEnd = wait > 0 ? from + (wait / dur) * (end - from) : from
    if (wait > 0 && merged) line.addWait(x0, x1, Math.min(share, wait / dur))
    else if (wait > 0) line.addWait(x0, Math.min(x1, waitEnd), 1)
    const stage = STAGES[code]
    const labelX = Math.max(0, from)
    const room = (Math.min(width, shownEnd) - labelX) / dpr
    // A span that reaches over several tiles has one label, from its first piece.
    const first = from >= left || left === 0
    if (stage !== undefined && first && !merged && room >= MIN_LABEL_WIDTH && lanes.laneHeight >= 16)
      labels.push({
        x: labelX / dpr,
        width: room,
        hatched: Math.max(0, waitEnd - labelX) / dpr,
        y: laneTop(rank, lanes) + lanes.laneHeight / 2,
        stage,
        text: textOf?.(i) ?? stage,
      })
  }
}

/** Draws the lanes' spans; the context's origin is the plot's corner. What lies behind them is drawn afterwards. */
export const drawSpans = (
  ctx: CanvasRenderingContext2D,
  scene: Scene,
  plate: Plate,
  dpr: number,
  theme: Theme,
  inks: { readonly ground: string; readonly hatch: string },
): readonly Label[] => {
  const paint = paintOf(scene, theme, rgbOf(inks.ground))
  const labels = rasterise(scene, plate, dpr, paint, rgbOf(inks.hatch))
  // Pixels are put as they are, whatever the transformation.
  ctx.putImageData(plate.image, Math.round(scene.lanes.labelWidth * dpr), 0)
  return labels
}

export const drawLabels = (
  ctx: CanvasRenderingContext2D,
  labels: readonly Label[],
  theme: Theme,
  font: string,
): void => {
  ctx.font = font
  ctx.textBaseline = 'middle'
  ctx.textAlign = 'left'
  for (const label of labels) {
    const { stage, y } = label
    const clear = label.width - label.hatched
    const behind = label.hatched > 0 && clear >= ctx.measureText(label.text).width + 2 * LABEL_PAD
    const x = label.x + LABEL_PAD + (behind ? label.hatched : 0)
    const text = shortened(ctx, label.text, (behind ? clear : label.width) - 2 * LABEL_PAD)
    if (text === '') continue
    if (label.hatched > 0 && !behind) {
      ctx.fillStyle = stageColour(stage, theme)
      ctx.fillRect(x - 2, y - 8, ctx.measureText(text).width + 4, 16)
    }
    ctx.fillStyle = stageInk(stage, theme)
    ctx.fillText(text, x, y)
  }
}

/** As much of the text as fits, or nothing when too little would be left. */
const shortened = (ctx: CanvasRenderingContext2D, text: string, room: number): string => {
  if (ctx.measureText(text).width <= room) return text
  for (let keep = text.length - 1; keep >= 3; keep--) {
    const cut = `${text.slice(0, keep)}…`
    if (ctx.measureText(cut).width <= room) return cut
  }
  return ''
}

/** Box of a part of time on the lane of a rank, or on that of its kernels. */
export const laneArea = (
  lanes: Lanes,
  rank: number,
  range: TimeRange,
  shown: TimeRange,
  width: number,
  kernels = false,
) => ({
  x: xOfTime(range.startNs, shown, width),
  y: kernels ? kernelTop(rank, lanes) : laneTop(rank, lanes),
  width: Math.max(1, xOfTime(range.endNs, shown, width) - xOfTime(range.startNs, shown, width)),
  height: kernels ? lanes.kernelHeight : lanes.laneHeight,
})
