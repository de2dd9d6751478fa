import { bisectCenter, type ScaleLinear, scaleLinear } from 'd3'
import { formatInt, formatRate } from '../../drawing/format.ts'
import { inkOf } from '../../drawing/ink.ts'
import type { Pen } from '../../drawing/pen.ts'

export const STEPS_EDGE = { left: 56, right: 8, top: 6, bottom: 18 } as const
/** CSS pixels between two labels of an axis, at the least. */
const APART = { x: 90, y: 32 } as const

export interface StepsScene {
  /** Numbers of the steps, ascending. */
  readonly step: ArrayLike<number>
  /** Tokens per second of each; what is not finite breaks the line. */
  readonly rate: ArrayLike<number>
  /** Number of the selected step. */
  readonly selected: number | null
  /** Index of the step under the pointer. */
  readonly hovered: number | null
}

type Numbers = StepsScene['step']

/** From the number of a step to its place between two ends. */
const stepScale = (step: Numbers, left: number, right: number): ScaleLinear<number, number> =>
  scaleLinear([step[0] ?? 0, step[step.length - 1] ?? 0], [left, right])

/** How far across the plot a point lies, 0 to 1; null beside it. */
export const shareAt = (offsetX: number, width: number): number | null => {
  const share = (offsetX - STEPS_EDGE.left) / (width - STEPS_EDGE.left - STEPS_EDGE.right)
  return share >= 0 && share <= 1 ? share : null
}

/** Index of the step nearest to a share of the plot; null without steps. */
export const indexAt = (step: Numbers, share: number): number | null =>
  step.length === 0 ? null : bisectCenter(step, stepScale(step, 0, 1).invert(share))

/** How far across the plot a step lies, 0 to 1. */
export const shareOf = (step: Numbers, index: number): number => stepScale(step, 0, 1)(step[index] ?? 0)

const largest = (rate: ArrayLike<number>): number => {
  let most = 0
  for (let i = 0; i < rate.length; i++) {
    const one = rate[i] ?? Number.NaN
    if (Number.isFinite(one)) most = Math.max(most, one)
  }
  return most
}

/** Throughput over the steps, from zero; the selected step is a dashed line, the one under the pointer a quiet one. */
export const drawSteps = (ctx: Pen, width: number, height: number, scene: StepsScene): void => {
  const ink = inkOf()
  const base = height - STEPS_EDGE.bottom
  const left = STEPS_EDGE.left
  const right = Math.max(left + 1, width - STEPS_EDGE.right)
  const x = stepScale(scene.step, left, right)
  const rows = Math.max(2, Math.floor((base - STEPS_EDGE.top) / APART.y))
  const y = scaleLinear([0, largest(scene.rate) || 1], [base, STEPS_EDGE.top]).nice(rows)

  ctx.font = `11px ${ink.mono}`
  ctx.fillStyle = ink.line
  ctx.fillRect(left, STEPS_EDGE.top, 1, base - STEPS_EDGE.top)
  ctx.fillRect(left, base, right - left, 1)
  ctx.fillStyle = ink.text2
  ctx.textAlign = 'right'
  ctx.textBaseline = 'middle'
  for (const rate of y.ticks(rows)) ctx.fillText(formatRate(rate), left - 6, y(rate))
  ctx.textAlign = 'center'
  for (const step of x.ticks(Math.max(2, Math.floor((right - left) / APART.x))).filter(Number.isInteger)) {
    const label = formatInt(step)
    const half = ctx.measureText(label).width / 2
    ctx.fillText(label, Math.min(x(step), width - half), height - STEPS_EDGE.bottom / 2 + 1)
  }

  const hovered = scene.hovered === null ? undefined : scene.step[scene.hovered]
  if (hovered !== undefined) {
    ctx.fillStyle = ink.text2
    ctx.fillRect(Math.round(x(hovered)), STEPS_EDGE.top, 1, base - STEPS_EDGE.top)
  }
  drawRates(ctx, scene, x, y, ink.accent)
  const [from = 0, to = 0] = x.domain()
  if (scene.selected === null || scene.selected < from || scene.selected > to) return
  const at = Math.round(x(scene.selected)) + 0.5
  ctx.strokeStyle = ink.text0
  ctx.lineWidth = 1
  ctx.setLineDash([3, 2])
  ctx.beginPath()
  ctx.moveTo(at, STEPS_EDGE.top)
  ctx.lineTo(at, base)
  ctx.stroke()
  ctx.setLineDash([])
}

const drawRates = (
  ctx: Pen,
  { step, rate }: Pick<StepsScene, 'step' | 'rate'>,
  x: ScaleLinear<number, number>,
  y: ScaleLinear<number, number>,
  colour: string,
): void => {
  const known = (i: number): boolean => Number.isFinite(rate[i] ?? Number.NaN)
  ctx.strokeStyle = colour
  ctx.fillStyle = colour
  ctx.lineWidth = 1.5
  ctx.beginPath()
  for (let i = 0; i < step.length; i++) {
    if (!known(i)) continue
    const [across, up] = [x(step[i] ?? 0), y(rate[i] ?? 0)]
    if (known(i - 1)) ctx.lineTo(across, up)
    else {
      ctx.moveTo(across, up)
      // A step alone has no line.
      if (!known(i + 1)) ctx.fillRect(across - 2, up - 2, 4, 4)
    }
  }
  ctx.stroke()
}
