import { useId, useRef } from 'react'
import { PARTS, type Part, type Shares, sharesOf } from '../../../app/sweep/shares.ts'
import { arrangementName, otherAxis, type Spot } from '../../../app/sweep/spots.ts'
import { SourceBadge } from '../../controls/SourceBadge.tsx'
import { useSize } from '../../controls/use-size.ts'
import { formatFloat, formatRate } from '../../drawing/format.ts'
import { stageColour, type Theme } from '../../theme/colours.ts'
import { useTheme } from '../../theme/use-theme.ts'
import { MarkShape } from './marks.tsx'
import { shownSpots } from './model.ts'
import { PointTable } from './PointTable.tsx'
import type { PictureProps } from './picture.ts'
import { stagesTable } from './picture-tables.ts'
import { rateExtent } from './scale.ts'
import { spotSource } from './source.ts'
import { axisText } from './words.ts'

const COLUMNS = [
  { key: 'arrangement', title: 'arrangement' },
  { key: 'place', title: 'at' },
  { key: 'step', title: 'step ms' },
  { key: 'attention', title: 'attention', help: 'Of a rank, a step' },
  { key: 'transfer', title: 'transfer', help: 'In collectives of a rank, without waiting' },
  { key: 'waiting', title: 'waiting', help: 'In collectives of a rank, for the last to come' },
  {
    key: 'rest',
    title: 'rest',
    help: 'What these leave of the step: other stages, and what lies between them',
  },
  { key: 'source', title: 'source' },
] as const

/** Attention and exchange have the colours of their stages, and waiting its hatch; the rest is as quiet as the page. */
const colourOf = (part: Exclude<Part, 'rest'>, theme: Theme): string =>
  stageColour(
    ({ attention: 'decode_attn', transfer: 'out_all_to_all', waiting: 'stall' } as const)[part],
    theme,
  )

/** The rest has its fill from the styles; `hatch` names the pattern of waiting. */
const fillOf = (part: Part, theme: Theme, hatch: string): string | undefined =>
  part === 'rest' ? undefined : part === 'waiting' ? `url(#${hatch})` : colourOf(part, theme)

interface Bar {
  readonly spot: Spot
  readonly shares: Shares
}

const MARGIN = { left: 60, right: 12, top: 12, bottom: 40 }
const WIDEST = 44

const PartHatch = ({ id }: { readonly id: string }) => {
  const colour = colourOf('waiting', useTheme())
  return (
    <pattern id={id} width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
      <rect width="5" height="5" fill={colour} fillOpacity="0.35" />
      <rect width="2" height="5" fill={colour} />
    </pattern>
  )
}

interface ChartProps {
  /** A group a place of the axis, a bar an arrangement. */
  readonly groups: readonly { readonly text: string; readonly bars: readonly Bar[] }[]
  readonly asShares: boolean
  readonly marks: PictureProps['marks']
  readonly picked: Spot | null
  readonly onPick: (spot: Spot) => void
}

const StageChart = ({ groups, asShares, marks, picked, onPick }: ChartProps) => {
  const theme = useTheme()
  const hatch = useId()
  const box = useRef<HTMLDivElement>(null)
  const { width, height } = useSize(box)
  const { left, right, top, bottom } = MARGIN
  const all = groups.flatMap(({ bars }) => bars)
  const extent = asShares
    ? { domain: [0, 1] as const, ticks: [0, 0.25, 0.5, 0.75, 1] }
    : rateExtent(
        all.map(({ shares }) => PARTS.reduce((sum, part) => sum + shares.ms[part], 0)),
        false,
      )
  const y = (value: number): number => height - bottom - (value / extent.domain[1]) * (height - top - bottom)
  // Half a bar lies between groups.
  const slot = Math.min(WIDEST, (width - left - right) / (all.length + groups.length / 2))
  let at = left + slot / 4
  return (
    <div ref={box} className="throughput-chart throughput-plot">
      {width < 120 || height < 80 ? null : (
        <svg
          width={width}
          height={height}
          role="img"
          aria-label={`Stages; parts of a step of ${all.length} points, see the table below`}
        >
          <PartHatch id={hatch} />
          {extent.ticks.map((tick) => (
            <g key={tick}>
              <path className="plot-grid" d={`M${left} ${y(tick)}H${width - right}`} />
              <text className="plot-tick" x={left - 6} y={y(tick) + 4} textAnchor="end">
                {asShares ? `${tick * 100}%` : formatRate(tick)}
              </text>
            </g>
          ))}
          {groups.map(({ text, bars }) => {
            const start = at
            at += slot * (bars.length + 0.5)
            return (
              <g key={text}>
                {bars.map((bar, i) => (
                  <StageBar
                    key={bar.spot.key}
                    {...bar}
                    x={start + slot * (i + 0.08)}
                    width={slot * 0.84}
                    y={y}
                    fill={(part) => fillOf(part, theme, hatch)}
                    asShares={asShares}
                    mark={marks.get(arrangementName(bar.spot))}
                    picked={bar.spot === picked}
                    onPick={onPick}
                  />
                ))}
                <text
                  className="plot-tick"
                  x={start + (slot * bars.length) / 2}
                  y={height - 4}
                  textAnchor="middle"
                >
                  {text}
                </text>
              </g>
            )
          })}
        </svg>
      )}
    </div>
  )
}

interface BarProps extends Bar {
  readonly x: number
  readonly width: number
  readonly y: (value: number) => number
  readonly fill: (part: Part) => string | undefined
  readonly asShares: boolean
  readonly mark: Parameters<typeof MarkShape>[0]['mark'] | undefined
  readonly picked: boolean
  readonly onPick: (spot: Spot) => void
}

const partText = ({ ms, share }: Shares): string =>
  PARTS.map((part) => `${part} ${formatRate(ms[part])} ms (${formatFloat(share[part] * 100, 1)}%)`).join(', ')

const StageBar = ({ spot, shares, x, width, y, fill, asShares, mark, picked, onPick }: BarProps) => {
  const values = asShares ? shares.share : shares.ms
  let below = 0
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the table has a button for each point
    <g className="stage-bar" data-testid="stage-bar" onClick={() => onPick(spot)}>
      <title>{`${arrangementName(spot)}: ${partText(shares)}`}</title>
      {PARTS.map((part) => {
        const from = below
        below += values[part]
        return (
          <rect
            key={part}
            x={x}
            y={y(below)}
            width={width}
            height={Math.max(0, y(from) - y(below))}
            className={`part-${part}`}
            fill={fill(part)}
          />
        )
      })}
      {mark === undefined ? null : (
        <MarkShape mark={mark} x={x + width / 2} y={y(0) + 12} area={40} ringed={picked} />
      )}
    </g>
  )
}

/** The key of the colours; waiting is told apart by its hatch as well. */
const PartKey = () => {
  const theme = useTheme()
  const hatch = useId()
  return (
    <div className="throughput-legend">
      {PARTS.map((part) => (
        <span key={part} className="throughput-series">
          <svg width="14" height="12" aria-hidden="true">
            {part === 'waiting' ? <PartHatch id={hatch} /> : null}
            <rect width="14" height="12" className={`part-${part}`} fill={fillOf(part, theme, hatch)} />
          </svg>
          {part}
        </span>
      ))}
    </div>
  )
}

/** What a step is made of, an arrangement beside the other, along one axis. */
export const Stages = ({
  model,
  held,
  control,
  manifest,
  source,
  marks,
  picked,
  onPick,
  legend,
}: PictureProps) => {
  const { look } = control
  const { axis } = look
  const holds = otherAxis(axis)
  const bars = shownSpots(model, look).flatMap((spot): Bar[] => {
    const shares = spot[holds] === held ? sharesOf(spot) : null
    return shares === null ? [] : [{ spot, shares }]
  })
  const order = model.arrangements.map(arrangementName)
  const groups = [...new Set(bars.map(({ spot }) => spot[axis]))]
    .sort((a, b) => a - b)
    .map((value) => ({
      text: axisText(axis, value),
      bars: bars
        .filter(({ spot }) => spot[axis] === value)
        .sort((a, b) => order.indexOf(arrangementName(a.spot)) - order.indexOf(arrangementName(b.spot))),
    }))
  const rising = groups.flatMap((group) => group.bars)
  if (bars.length === 0)
    return (
      <p className="quiet throughput-none">
        No step is known at {holds} {axisText(holds, held)}.
      </p>
    )
  return (
    <>
      <h3>
        Parts of a step over {axis} <SourceBadge source={source} />
        <span className="field-unit">
          at {holds} <span className="num">{axisText(holds, held)}</span>; mean over the ranks, in{' '}
          {look.shares ? 'shares of the step' : 'ms'}
        </span>
      </h3>
      {legend}
      <PartKey />
      <StageChart groups={groups} asShares={look.shares} marks={marks} picked={picked} onPick={onPick} />
      <PointTable
        name="Parts of a step"
        testId="stages-table"
        columns={COLUMNS}
        exact={() => stagesTable(rising, manifest)}
        lines={rising.map(({ spot, shares }) => ({
          key: spot.key,
          name: arrangementName(spot),
          picked: spot === picked,
          onPick: () => onPick(spot),
          cells: [
            { text: axisText(axis, spot[axis]) },
            { text: formatRate(spot.stepMs), exact: `${spot.stepMs} ms` },
            ...PARTS.map((part) => ({
              text: look.shares
                ? `${formatFloat(shares.share[part] * 100, 1)}%`
                : `${formatRate(shares.ms[part])} ms`,
              exact: `${shares.ms[part]} ms`,
            })),
            { text: <SourceBadge source={spotSource(spot, manifest)} /> },
          ],
        }))}
      />
    </>
  )
}
