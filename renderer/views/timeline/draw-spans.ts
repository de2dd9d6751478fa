import { STAGES, type Stage } from '../../../app/trace/stages.ts'
import type { Pen } from '../../drawing/pen.ts'
import { stageColour, stageHatched, stageInk, type Theme } from '../../theme/colours.ts'
import { shortKernelName } from './kernel-name.ts'
import {
  clipTop,
  groupTop,
  kernelsHeight,
  kernelTop,
  type Lanes,
  laneBottom,
  laneTop,
  stagesHeight,
} from './lanes.ts'
import { type TimeRange, xOfTime } from './range.ts'
import { type LaneLine, type Rgb, rgbOf, SpanRaster } from './raster.ts'
import type { Scene } from './scene.ts'
import { firstOfRank, type SpanTile, type TileItems } from './tiles.ts'

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
  for (const rank of lanes.order) {
    if (laneBottom(rank, lanes) <= clipTop(rank, lanes) || laneTop(rank, lanes) * dpr >= raster.height)
      continue
    for (const row of rowsOf(rank, lanes)) {
      const own: Label[] = []
      for (const piece of scene.pieces)
        addItems(
          row.items(piece.tile),
          piece.range,
          rank,
          scene,
          raster.line,
          dpr,
          paint,
          own,
          row.text(piece.tile),
        )
      raster.put(
        Math.round(Math.max(row.top, clipTop(rank, lanes)) * dpr),
        Math.round((row.top + row.height) * dpr),
        hatch,
      )
      const y = row.top + row.height / 2
      if (row.height >= LEAST_LABELLED && y > clipTop(rank, lanes))
        labels.push(...own.map((label) => ({ ...label, y })))
    }
  }
  return labels
}

/** Lower rows have no labels, px. */
const LEAST_LABELLED = 14

/** One row of a rank: what lies on it, and what stands on its items. */
interface Row {
  readonly top: number
  readonly height: number
  readonly items: (tile: SpanTile) => TileItems
  readonly text: (tile: SpanTile) => (i: number) => string
}

const stageText = (items: TileItems) => (i: number) => STAGES[items.stage[i] ?? -1] ?? ''

/** The rows of a rank: replays of graphs as groups of what they contain, stages, kernels in the colours of their stages. */
const rowsOf = (rank: number, lanes: Lanes): readonly Row[] => [
  ...(lanes.groupHeight === 0
    ? []
    : [
        {
          top: groupTop(rank, lanes),
          height: lanes.groupHeight,
          items: ({ outer }: SpanTile) => outer,
          text:
            ({ outer }: SpanTile) =>
            (i: number) =>
              `${stageText(outer)(i)}, step ${outer.step[i] ?? 0}`,
        },
      ]),
  {
    top: laneTop(rank, lanes),
    height: stagesHeight(rank, lanes),
    items: (tile: SpanTile) => tile,
    text: stageText,
  },
  ...(kernelsHeight(rank, lanes) === 0
    ? []
    : [
        {
          top: kernelTop(rank, lanes),
          height: kernelsHeight(rank, lanes),
          items: ({ kernels }: SpanTile) => kernels,
          text:
            ({ kernels, kernelNames }: SpanTile) =>
            (i: number) =>
              shortKernelName(kernelNames[kernels.name[i] ?? -1] ?? ''),
        },
      ]),
]

/** Adds the items of a rank over `range`, and labels where there is room. */
const addItems = (
  tile: TileItems,
  range: TimeRange,
  rank: number,
  scene: Scene,
  line: LaneLine,
  dpr: number,
  { colours, hatched, dimmed }: Paint,
  labels: Label[],
  textOf: (i: number) => string,
): void => {
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
    if (stage !== undefined && first && !merged && room >= MIN_LABEL_WIDTH)
      labels.push({
        x: labelX / dpr,
        width: room,
        hatched: Math.max(0, waitEnd - labelX) / dpr,
        y: 0,
        stage,
        text: textOf(i),
      })
  }
}

/** Draws the lanes' spans; the context's origin is the plot's corner. What lies behind them is drawn afterwards. */
export const drawSpans = (
  ctx: Pen,
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

export const drawLabels = (ctx: Pen, labels: readonly Label[], theme: Theme, font: string): void => {
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
const shortened = (ctx: Pen, text: string, room: number): string => {
  if (ctx.measureText(text).width <= room) return text
  for (let keep = text.length - 1; keep >= 3; keep--) {
    const cut = `${text.slice(0, keep)}…`
    if (ctx.measureText(cut).width <= room) return cut
  }
  return ''
}

/** Which row of a rank an item lies on. */
export type RowName = 'group' | 'stages' | 'kernels'

/** Box of a part of time on a row of a rank, cut where the rank is scrolled below others; null where nothing is left. */
export const laneArea = (
  lanes: Lanes,
  rank: number,
  range: TimeRange,
  shown: TimeRange,
  width: number,
  row: RowName = 'stages',
): { x: number; y: number; width: number; height: number } | null => {
  const [top, height] =
    row === 'kernels'
      ? [kernelTop(rank, lanes), kernelsHeight(rank, lanes)]
      : row === 'group'
        ? [groupTop(rank, lanes), lanes.groupHeight]
        : [laneTop(rank, lanes), stagesHeight(rank, lanes)]
  const y = Math.max(top, clipTop(rank, lanes))
  if (top + height <= y) return null
  const x = xOfTime(range.startNs, shown, width)
  return { x, y, width: Math.max(1, xOfTime(range.endNs, shown, width) - x), height: top + height - y }
}
