import { type ReactElement, useState } from 'react'
import {
  Area,
  ComposedChart,
  ErrorBar,
  Line,
  ReferenceDot,
  ReferenceLine,
  ResponsiveContainer,
  Tooltip,
  XAxis,
  YAxis,
} from 'recharts'
import type { Course } from '../../../app/sweep/crossings.ts'
import type { PublishedPoint } from '../../../app/sweep/published.ts'
import { type Axis, arrangementName, type Curve, KINDS, type Spot } from '../../../app/sweep/spots.ts'
import type { Manifest } from '../../../app/trace/manifest.ts'
import { SourceBadge } from '../../controls/SourceBadge.tsx'
import { formatInt, formatRate } from '../../drawing/format.ts'
import { CrossingMarks } from './CrossingMarks.tsx'
import { type Mark, MarkShape } from './marks.tsx'
import { hasBand } from './model.ts'
import { PublishedFacts, publishedName, publishedShape } from './Published.tsx'
import { placeExtent, rateExtent } from './scale.ts'
import { spotSource } from './source.ts'
import { axisText, spreadText } from './words.ts'

const FULL_AREA = 52
const PREDICTED_AREA = 22

interface Row {
  readonly x: number
  /** By name of the curve. */
  readonly spots: ReadonlyMap<string, Spot>
}

const curveName = (curve: Pick<Curve, 'kind' | 'mode' | 'dcp' | 'comm'>): string =>
  `${curve.kind} ${arrangementName(curve)}`

const rowsOf = (curves: readonly Curve[], axis: Axis): Row[] => {
  const rows = new Map<number, Map<string, Spot>>()
  for (const curve of curves)
    for (const spot of curve.spots) {
      const row = rows.get(spot[axis]) ?? new Map<string, Spot>()
      row.set(curveName(curve), spot)
      rows.set(spot[axis], row)
    }
  return [...rows].map(([x, spots]) => ({ x, spots })).sort((a, b) => a.x - b.x)
}

interface CardProps {
  readonly payload?: readonly { readonly payload?: Row }[]
  readonly axis: Axis
  readonly manifest: Manifest
}

/** Every rate at one place of the axis: measured before predicted, fastest first. */
const RateCard = ({ payload, axis, manifest }: CardProps) => {
  const row = payload?.[0]?.payload
  if (row === undefined) return null
  const spots = [...row.spots.values()].sort(
    (a, b) => KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind) || b.tokensPerSecond - a.tokensPerSecond,
  )
  return (
    <div className="throughput-card num">
      <p>
        {axis} {axisText(axis, row.x)}
      </p>
      <table>
        <tbody>
          {spots.map((spot) => (
            <tr key={`${spot.kind} ${arrangementName(spot)}`}>
              <th scope="row">{arrangementName(spot)}</th>
              <td>{formatRate(spot.tokensPerSecond)}</td>
              <td className="quiet">
                {spot.rows.length > 1 ? spreadText(spot.least, spot.most) : ''}
                {spot.capacityLimited ? ` pool holds ${formatInt(spot.batch)}` : ''}
              </td>
              <td>
                <SourceBadge source={spotSource(spot, manifest)} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface Props {
  readonly curves: readonly Curve[]
  readonly axis: Axis
  readonly marks: ReadonlyMap<string, Mark>
  readonly manifest: Manifest
  /** Values of the axis that the sweep has, measured or not: the axis stays as it is while points come in. */
  readonly along: readonly number[]
  readonly logarithmic: boolean
  /** Whether the confidence of each curve is drawn as a band. */
  readonly bands: boolean
  /** Where arrangements cross the baseline, to be named. */
  readonly courses: readonly Course[]
  /** Laid over; none where they are not asked for. */
  readonly published: readonly PublishedPoint[]
  /** Place on the axis of the selected cell, and the point that is looked at. */
  readonly selected: number | null
  readonly picked: Spot | null
  readonly onSelect: (x: number) => void
}

/** The interval of a rate as far as the axis goes; that of two repeats is nearly always wider. */
const bandOf = (
  spot: Spot | undefined,
  [low, high]: readonly [number, number],
): [number, number] | undefined =>
  spot === undefined || spot.interval === null || !hasBand(spot)
    ? undefined
    : [Math.max(low, spot.interval[0]), Math.min(high, spot.interval[1])]

const isDashed = ({ kind }: Curve): boolean => kind !== 'measured'

/** Rates along one axis. What is predicted is dashed; bars are the slowest and the fastest repeat. */
const CurveChart = ({
  curves,
  axis,
  along,
  marks,
  manifest,
  logarithmic,
  bands,
  courses,
  published,
  selected,
  picked,
  onSelect,
}: Props) => {
  const [hovered, setHovered] = useState<PublishedPoint | null>(null)
  const rows = rowsOf(curves, axis)
  const spots = curves.flatMap((curve) => curve.spots)
  const rates = rateExtent(
    [...spots.flatMap(({ least, most }) => [least, most]), ...published.map(({ value }) => value)],
    logarithmic,
  )
  const places = placeExtent([...along, ...published.map((point) => point[axis] ?? 0)])
  return (
    <>
      <ResponsiveContainer width="100%" height="100%">
        <ComposedChart
          data={rows}
          margin={{ top: 10, right: 12, bottom: 0, left: 0 }}
          accessibilityLayer={false}
          onClick={({ activeLabel }) => {
            if (activeLabel !== undefined) onSelect(Number(activeLabel))
          }}
        >
          <XAxis
            dataKey="x"
            type="number"
            scale="log"
            domain={[...places.domain]}
            ticks={[...places.ticks]}
            tickFormatter={(x: number) => axisText(axis, x)}
            padding={{ left: 14, right: 14 }}
            height={20}
            tickLine={false}
            interval="preserveStartEnd"
          />
          <YAxis
            width={60}
            scale={logarithmic ? 'log' : 'linear'}
            domain={[...rates.domain]}
            ticks={[...rates.ticks]}
            tickFormatter={rates.ticks.every(Number.isInteger) ? formatInt : formatRate}
            tickLine={false}
            interval={0}
          />
          <Tooltip
            content={<RateCard axis={axis} manifest={manifest} />}
            isAnimationActive={false}
            cursor={{ className: 'chart-cursor' }}
            wrapperStyle={{ zIndex: 10 }}
          />
          {selected === null ? null : <ReferenceLine x={selected} className="chart-selected" />}
          {bands
            ? curves.map((curve) => {
                const name = curveName(curve)
                const colour = marks.get(arrangementName(curve))?.colour
                return curve.spots.some(hasBand) ? (
                  <Area
                    key={`band ${name}`}
                    name={`band ${name}`}
                    dataKey={({ spots }: Row) => bandOf(spots.get(name), rates.domain)}
                    className="curve-band"
                    stroke="none"
                    fill={colour ?? 'none'}
                    fillOpacity={0.14}
                    type="linear"
                    connectNulls
                    isAnimationActive={false}
                    activeDot={false}
                    dot={false}
                    tooltipType="none"
                    legendType="none"
                  />
                ) : null
              })
            : null}
          {curves.map((curve) => {
            const name = curveName(curve)
            const mark = marks.get(arrangementName(curve))
            if (mark === undefined) return null
            const dashed = isDashed(curve)
            return (
              <Line
                key={name}
                name={name}
                dataKey={({ spots }: Row) => spots.get(name)?.tokensPerSecond}
                className={dashed ? 'curve curve-predicted' : 'curve'}
                stroke={mark.colour}
                strokeWidth={mark.name === 'tp' && !dashed ? 2.5 : 1.5}
                {...(dashed ? { strokeDasharray: '5 4' } : {})}
                type="linear"
                connectNulls
                isAnimationActive={false}
                activeDot={false}
                dot={({ cx, cy, payload, key }): ReactElement => {
                  const spot = (payload as Row).spots.get(name)
                  return spot === undefined || cx === undefined || cy === undefined ? (
                    <g key={key} />
                  ) : (
                    <MarkShape
                      key={key}
                      mark={mark}
                      x={Number(cx)}
                      y={Number(cy)}
                      area={dashed ? PREDICTED_AREA : FULL_AREA}
                      capped={spot.capacityLimited}
                      ringed={spot === picked}
                    />
                  )
                }}
              >
                {dashed ? null : (
                  <ErrorBar
                    dataKey={({ spots }: Row) => {
                      const spot = spots.get(name)
                      return spot === undefined || spot.rows.length < 2
                        ? undefined
                        : [spot.tokensPerSecond - spot.least, spot.most - spot.tokensPerSecond]
                    }}
                    width={4}
                    stroke={mark.colour}
                    strokeWidth={1}
                    isAnimationActive={false}
                  />
                )}
              </Line>
            )
          })}
          <CrossingMarks courses={courses} marks={marks} />
          {published.map((point) => (
            <ReferenceDot
              key={publishedName(point)}
              x={point[axis] ?? 0}
              y={point.value}
              shape={({ cx = 0, cy = 0 }) => (
                // biome-ignore lint/a11y/noStaticElementInteractions: the list of published figures says the same
                <g
                  transform={`translate(${cx} ${cy})`}
                  className="published-dot"
                  data-testid="published-dot"
                  onMouseEnter={() => setHovered(point)}
                  onMouseLeave={() => setHovered(null)}
                >
                  <circle r={8} className="published-reach" />
                  <path d={publishedShape(point)} />
                </g>
              )}
            />
          ))}
        </ComposedChart>
      </ResponsiveContainer>
      {hovered === null || !published.includes(hovered) ? null : (
        <div className="throughput-published-card" data-testid="published-card">
          {published
            .filter((point) => point[axis] === hovered[axis])
            .map((point) => (
              <PublishedFacts key={publishedName(point)} point={point} />
            ))}
        </div>
      )}
    </>
  )
}

export default CurveChart
