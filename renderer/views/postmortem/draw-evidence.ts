import type { Picture } from '../../../app/diagnosis/result.ts'
import type { Table } from '../../../app/messages/csv.ts'
import { formatValue } from '../../drawing/format.ts'
import { inkOf } from '../../drawing/ink.ts'
import type { Pen } from '../../drawing/pen.ts'
import { nanPattern, sequentialColour, sizeColour, type Theme } from '../../theme/colours.ts'

type Bars = Extract<Picture, { kind: 'bars' }>
type Heat = Extract<Picture, { kind: 'heat' }>

const EDGE = { left: 62, right: 8, top: 22, bottom: 18 } as const

/** Height that a picture needs. */
export const pictureHeight = (picture: Picture): number =>
  picture.kind === 'bars'
    ? 150
    : EDGE.top + EDGE.bottom + Math.min(220, Math.max(30, picture.rows.length * 16))

export interface Span {
  readonly min: number
  readonly max: number
}

/** What bars span; 0 is always in. */
export const barSpan = (values: readonly (number | null)[]): Span => {
  const finite = values.filter((value) => value !== null)
  const min = Math.min(0, ...finite)
  const max = Math.max(0, ...finite)
  return min === max ? { min: 0, max: 1 } : { min, max }
}

const drawBars = (ctx: Pen, width: number, height: number, theme: Theme, { labels, series }: Bars): void => {
  const ink = inkOf()
  const plot = { width: width - EDGE.left - EDGE.right, height: height - EDGE.top - EDGE.bottom }
  const { min, max } = barSpan(series.flatMap(({ values }) => values))
  const y = (value: number): number => EDGE.top + ((max - value) / (max - min)) * plot.height
  const group = plot.width / Math.max(1, labels.length)
  const bar = Math.min(36, (group * 0.8) / Math.max(1, series.length))
  for (const [s, { values }] of series.entries())
    for (const [i, value] of values.entries()) {
      const x = EDGE.left + (i + 0.5) * group + (s - series.length / 2) * bar
      const thick = Math.max(1, bar - (bar > 4 ? 1 : 0))
      if (value === null) {
        ctx.fillStyle = nanPattern(ctx, theme)
        ctx.fillRect(x, EDGE.top, thick, plot.height)
        continue
      }
      ctx.fillStyle = sizeColour(s, 0, theme)
      const top = Math.min(y(value), y(0))
      ctx.fillRect(x, top, thick, Math.max(1, Math.abs(y(value) - y(0))))
    }
  ctx.fillStyle = ink.text2
  ctx.fillRect(EDGE.left, Math.round(y(0)), plot.width, 1)
  ctx.textAlign = 'right'
  for (const value of [max, 0, min])
    if (value === 0 || Math.abs(y(value) - y(0)) >= 12)
      ctx.fillText(formatValue(value), EDGE.left - 6, y(value))
  drawLabels(ctx, labels, { pitch: group, width, y: height - EDGE.bottom / 2 })
  drawLegend(
    ctx,
    series.map(({ name }) => name),
    theme,
    ink.text1,
  )
}

/** As many labels as have room beside each other, whole. */
const drawLabels = (
  ctx: Pen,
  labels: readonly string[],
  { pitch, width, y }: { readonly pitch: number; readonly width: number; readonly y: number },
): void => {
  ctx.textAlign = 'center'
  let free = 0
  for (const [i, label] of labels.entries()) {
    const half = ctx.measureText(label).width / 2
    const x = Math.max(half, EDGE.left + (i + 0.5) * pitch)
    if (x - half < free || x + half > width) continue
    ctx.fillText(label, x, y)
    free = x + half + 8
  }
}

const drawLegend = (ctx: Pen, names: readonly string[], theme: Theme, colour: string): void => {
  let x: number = EDGE.left
  ctx.textAlign = 'left'
  for (const [i, name] of names.entries()) {
    ctx.fillStyle = sizeColour(i, 0, theme)
    ctx.fillRect(x, 5, 10, 10)
    ctx.fillStyle = colour
    ctx.fillText(name, x + 14, 10)
    x += 14 + ctx.measureText(name).width + 14
  }
}

const drawHeat = (ctx: Pen, width: number, height: number, theme: Theme, heat: Heat): void => {
  const ink = inkOf()
  const { rows, columns, values } = heat
  const plot = { width: width - EDGE.left - EDGE.right, height: height - EDGE.top - EDGE.bottom }
  const [w, h] = [plot.width / Math.max(1, columns.length), plot.height / Math.max(1, rows.length)]
  const { min, max } = barSpan(values)
  const nan = nanPattern(ctx, theme)
  for (const [i, value] of values.entries()) {
    const [row, column] = [Math.floor(i / columns.length), i % columns.length]
    ctx.fillStyle = value === null ? nan : sequentialColour((value - min) / (max - min), theme)
    ctx.fillRect(
      EDGE.left + column * w,
      EDGE.top + row * h,
      Math.max(1, w - (w > 5 ? 1 : 0)),
      Math.max(1, h - (h > 5 ? 1 : 0)),
    )
  }
  ctx.fillStyle = ink.text2
  ctx.textAlign = 'right'
  const every = Math.max(1, Math.ceil(12 / h))
  for (let row = 0; row < rows.length; row += every)
    ctx.fillText(rows[row] ?? '', EDGE.left - 6, EDGE.top + (row + 0.5) * h)
  drawLabels(ctx, columns, { pitch: w, width, y: height - EDGE.bottom / 2 })
  ctx.textAlign = 'left'
  ctx.fillText(
    `${heat.rowLabel} down, ${heat.columnLabel} across; ${formatValue(min)} to ${formatValue(max)}`,
    EDGE.left,
    10,
  )
}

/** The small picture of a finding's evidence. */
export const drawEvidence = (
  ctx: Pen,
  width: number,
  height: number,
  theme: Theme,
  picture: Picture,
): void => {
  ctx.font = `11px ${inkOf().mono}`
  ctx.textBaseline = 'middle'
  if (picture.kind === 'bars') drawBars(ctx, width, height, theme, picture)
  else drawHeat(ctx, width, height, theme, picture)
}

/** The numbers of a picture, exact; null where they are not finite. The unit stands with the names. */
export const evidenceTable = (picture: Picture): Table => {
  const named = (name: string): string => (picture.unit === '' ? name : `${name} (${picture.unit})`)
  return picture.kind === 'bars'
    ? {
        header: ['', ...picture.series.map(({ name }) => named(name))],
        rows: picture.labels.map((label, i) => [
          label,
          ...picture.series.map(({ values }) => values[i] ?? null),
        ]),
      }
    : {
        header: ['', ...picture.columns.map(named)],
        rows: picture.rows.map((row, i) => [
          row,
          ...picture.columns.map((_, column) => picture.values[i * picture.columns.length + column] ?? null),
        ]),
      }
}

/** The picture as a table of a spreadsheet. */
export const pictureTable = (picture: Picture): readonly (readonly string[])[] => {
  const text = (value: number | null | undefined): string =>
    value == null ? 'not finite' : formatValue(value)
  return picture.kind === 'bars'
    ? [
        ['', ...picture.series.map(({ name }) => name)],
        ...picture.labels.map((label, i) => [label, ...picture.series.map(({ values }) => text(values[i]))]),
      ]
    : [
        ['', ...picture.columns],
        ...picture.rows.map((row, i) => [
          row,
          ...picture.columns.map((_, column) => text(picture.values[i * picture.columns.length + column])),
        ]),
      ]
}
