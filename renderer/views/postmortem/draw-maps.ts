import type { DumpRank } from '../../../app/protocol/store.ts'
import { formatValue } from '../../drawing/format.ts'
import { strokeWithHalo } from '../../drawing/halo.ts'
import { type Ink, inkOf } from '../../drawing/ink.ts'
import type { Pen } from '../../drawing/pen.ts'
import { rgbOf, slantPattern } from '../../drawing/texture.ts'
import { nanPattern, rankColour, rankInk, sequentialColour, type Theme } from '../../theme/colours.ts'
import { type Box, type Picture, panelBoxes, pictureOf, type TensorMap, TITLE } from './map-layout.ts'
import { type MapScale, placeOn } from './map-scale.ts'
import type { Place } from './model.ts'

/** Room of the ramp below the maps. */
const LEGEND = 22
const SHADES = 64

/** One rank's map; null while it is read. */
export interface Panel {
  readonly rank: DumpRank
  readonly map: TensorMap | null
  /** Picked cell of the tensor, where the rank has it. */
  readonly cell: Place | null
  readonly selected: boolean
}

export interface MapScene {
  readonly panels: readonly Panel[]
  readonly cells: { readonly rows: number; readonly columns: number }
  readonly scale: MapScale
  /** What rows and columns are. */
  readonly axes: string
}

export const boxesOf = (
  { panels, cells }: Pick<MapScene, 'panels' | 'cells'>,
  width: number,
  height: number,
): Box[] => panelBoxes(panels.length, cells, width, height - LEGEND)

const rampOf = (theme: Theme): (readonly [number, number, number])[] =>
  Array.from({ length: SHADES }, (_, i) => rgbOf(sequentialColour((i + 0.5) / SHADES, theme)))

/** Cells as pixels of a canvas of their own, scaled up without smoothing; textures are drawn over it. */
const drawCells = (
  ctx: Pen,
  { across, down, cells }: Picture,
  box: Box,
  scale: MapScale,
  look: {
    readonly ramp: readonly (readonly [number, number, number])[]
    readonly nan: CanvasPattern
    readonly inf: CanvasPattern | string
  },
): void => {
  const tile = document.createElement('canvas')
  tile.width = across
  tile.height = down
  const pen = tile.getContext('2d')
  if (pen === null) return
  const image = pen.createImageData(across, down)
  for (let i = 0; i < cells.length; i++) {
    const place = placeOn(scale, cells[i] ?? Number.NaN)
    if (place === null) continue
    const [r, g, b] = look.ramp[Math.min(SHADES - 1, Math.floor(place * SHADES))] ?? [0, 0, 0]
    image.data.set([r, g, b, 255], 4 * i)
  }
  pen.putImageData(image, 0, 0)
  ctx.imageSmoothingEnabled = false
  ctx.drawImage(tile, box.left, box.top, box.width, box.height)
  drawTextures(ctx, { across, down, cells }, box, look)
}

/** Runs of cells of one kind in a row become one rectangle. */
const drawTextures = (
  ctx: Pen,
  { across, down, cells }: Picture,
  box: Box,
  { nan, inf }: { readonly nan: CanvasPattern; readonly inf: CanvasPattern | string },
): void => {
  const [w, h] = [box.width / across, box.height / down]
  for (let row = 0; row < down; row++)
    for (let column = 0; column < across; ) {
      const value = cells[row * across + column] ?? 0
      let end = column + 1
      while (end < across && Object.is(cells[row * across + end], value)) end++
      if (!Number.isFinite(value)) {
        ctx.fillStyle = Number.isNaN(value) ? nan : inf
        ctx.fillRect(box.left + column * w, box.top + row * h, (end - column) * w, h)
      }
      column = end
    }
}

const drawTitle = (ctx: Pen, { rank, selected, map }: Panel, box: Box, ink: Ink, theme: Theme): void => {
  const y = box.top - TITLE / 2 - 1
  ctx.textAlign = 'left'
  if (rank === 'reference') {
    ctx.fillStyle = ink.text1
    ctx.fillText('reference', box.left, y)
  } else {
    ctx.fillStyle = rankColour(rank, theme)
    ctx.fillRect(box.left, y - 7, 20, 14)
    ctx.fillStyle = rankInk(rank, theme)
    ctx.textAlign = 'center'
    ctx.fillText(String(rank), box.left + 10, y)
  }
  const bad = (map?.counts.nan ?? 0) + (map?.counts.plusInf ?? 0)
  ctx.textAlign = 'left'
  ctx.fillStyle = bad > 0 ? ink.bad : ink.text2
  const note = map === null ? 'reading …' : bad > 0 ? 'NaN or +∞' : ''
  if (box.width > 90) ctx.fillText(note, box.left + (rank === 'reference' ? 64 : 26), y)
  if (!selected) return
  ctx.strokeStyle = ink.accent
  ctx.lineWidth = 2
  ctx.strokeRect(box.left - 1, y - 8, 22, 16)
}

const drawPicked = (ctx: Pen, { cell, map }: Panel, box: Box, ink: Ink): void => {
  if (cell === null || map === null) return
  const [w, h] = [box.width / map.mapColumns, box.height / map.mapRows]
  strokeWithHalo(ctx, ink, ink.accent, 2, () =>
    ctx.rect(
      box.left + Math.floor(cell.column / map.columnsPerCell) * w - 1,
      box.top + Math.floor(cell.row / map.rowsPerCell) * h - 1,
      Math.max(4, w) + 2,
      Math.max(4, h) + 2,
    ),
  )
}

const drawLegend = (
  ctx: Pen,
  scale: MapScale,
  width: number,
  top: number,
  look: {
    readonly ink: Ink
    readonly theme: Theme
    readonly nan: CanvasPattern
    readonly inf: CanvasPattern | string
    readonly axes: string
  },
): void => {
  const { ink, theme } = look
  const middle = top + LEGEND / 2 + 1
  const bar = Math.min(140, width / 4)
  const left = 70
  for (let shade = 0; shade < SHADES; shade++) {
    ctx.fillStyle = sequentialColour((shade + 0.5) / SHADES, theme)
    ctx.fillRect(left + (shade / SHADES) * bar, middle - 4, bar / SHADES + 0.5, 8)
  }
  ctx.fillStyle = ink.text2
  ctx.textAlign = 'right'
  ctx.fillText(formatValue(scale.from), left - 6, middle)
  ctx.textAlign = 'left'
  ctx.fillText(`${formatValue(scale.to)}${scale.log ? ', by powers of ten' : ''}`, left + bar + 6, middle)
  let x = left + bar + (scale.log ? 210 : 90)
  for (const [name, fill, there] of [
    ['NaN', look.nan, scale.nan],
    ['±∞', look.inf, scale.infinite],
  ] as const) {
    if (!there) continue
    ctx.fillStyle = fill
    ctx.fillRect(x, middle - 6, 18, 12)
    ctx.fillStyle = ink.text2
    ctx.fillText(name, x + 24, middle)
    x += 64
  }
  ctx.fillStyle = ink.text2
  ctx.textAlign = 'right'
  if (width - x > 190) ctx.fillText(look.axes, width, middle)
}

/** The maps of all ranks on one scale, and the scale below. */
export const drawMaps = (ctx: Pen, width: number, height: number, theme: Theme, scene: MapScene): void => {
  const ink = inkOf()
  ctx.font = `11px ${ink.mono}`
  ctx.textBaseline = 'middle'
  const nan = nanPattern(ctx, theme)
  // For infinities, which are no numbers and need not be faults.
  const inf = slantPattern(ctx, ink, { opacity: 1, back: ink.bg2 })
  const ramp = rampOf(theme)
  const boxes = boxesOf(scene, width, height)
  for (const [i, panel] of scene.panels.entries()) {
    const box = boxes[i]
    if (box === undefined) continue
    drawTitle(ctx, panel, box, ink, theme)
    if (panel.map === null) {
      ctx.fillStyle = ink.bg2
      ctx.fillRect(box.left, box.top, box.width, box.height)
    } else drawCells(ctx, pictureOf(panel.map, box), box, scene.scale, { ramp, nan, inf })
    drawPicked(ctx, panel, box, ink)
  }
  const bottom = Math.max(0, ...boxes.map((box) => box.top + box.height))
  drawLegend(ctx, scene.scale, width, Math.min(height - LEGEND, bottom + 4), {
    ink,
    theme,
    nan,
    inf,
    axes: scene.axes,
  })
}
