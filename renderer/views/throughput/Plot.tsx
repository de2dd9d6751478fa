import { scaleLinear, scaleLog } from 'd3'
import { type ReactNode, useRef } from 'react'
import { useSize } from '../../controls/use-size.ts'
import type { Extent } from './scale.ts'

export interface PlotAxis {
  readonly extent: Extent
  readonly logarithmic: boolean
  /** What it measures, with its unit. */
  readonly title: string
  readonly format: (value: number) => string
}

/** From values to pixels, and the edges of the plot. */
export interface Frame {
  readonly x: (value: number) => number
  readonly y: (value: number) => number
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
}

const MARGIN = { left: 60, right: 16, top: 18, bottom: 34 }
/** Labels of the lower axis that stand closer, in pixels, are left out. */
const APART = 44

const scaleOf = ({ extent, logarithmic }: PlotAxis, from: number, to: number): ((value: number) => number) =>
  (logarithmic ? scaleLog() : scaleLinear()).domain(extent.domain).range([from, to])

/** Ticks that have room, from the first on. */
const roomy = (ticks: readonly number[], place: (tick: number) => number): number[] => {
  const shown: number[] = []
  for (const tick of ticks) {
    const last = shown.at(-1)
    if (last === undefined || place(tick) - place(last) >= APART) shown.push(tick)
  }
  return shown
}

interface Props {
  /** Says what is seen; the first clause names the picture when it is saved. */
  readonly label: string
  readonly x: PlotAxis
  readonly y: PlotAxis
  readonly children: (frame: Frame) => ReactNode
}

/** Two axes as wide as there is room, and what is drawn between them. */
export const Plot = ({ label, x, y, children }: Props) => {
  const box = useRef<HTMLDivElement>(null)
  const { width, height } = useSize(box)
  const frame = {
    left: MARGIN.left,
    right: width - MARGIN.right,
    top: MARGIN.top,
    bottom: height - MARGIN.bottom,
  }
  const toX = scaleOf(x, frame.left + 10, frame.right - 10)
  const toY = scaleOf(y, frame.bottom, frame.top)
  return (
    <div ref={box} className="throughput-chart throughput-plot">
      {width < 120 || height < 80 ? null : (
        <svg width={width} height={height} role="img" aria-label={label}>
          <path className="plot-axis" d={`M${frame.left} ${frame.top}V${frame.bottom}H${frame.right}`} />
          {y.extent.ticks.map((tick) => (
            <g key={tick}>
              <path className="plot-grid" d={`M${frame.left} ${toY(tick)}H${frame.right}`} />
              <text className="plot-tick" x={frame.left - 6} y={toY(tick) + 4} textAnchor="end">
                {y.format(tick)}
              </text>
            </g>
          ))}
          {roomy(x.extent.ticks, toX).map((tick) => (
            <text key={tick} className="plot-tick" x={toX(tick)} y={frame.bottom + 14} textAnchor="middle">
              {x.format(tick)}
            </text>
          ))}
          <text className="plot-title" x={frame.left - 54} y={11}>
            {y.title}
          </text>
          <text className="plot-title" x={frame.right} y={height - 4} textAnchor="end">
            {x.title}
          </text>
          {children({ ...frame, x: toX, y: toY })}
        </svg>
      )}
    </div>
  )
}
