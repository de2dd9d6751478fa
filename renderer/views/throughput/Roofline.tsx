import {
  type RoofPoint,
  ridgeOf,
  roofAt,
  roofOf,
  roofPoints,
  type Worked,
} from '../../../app/sweep/roofline.ts'
import { arrangementName, otherAxis } from '../../../app/sweep/spots.ts'
import { LIMIT_WORDS } from '../../../app/sweep/words.ts'
import { SourceBadge } from '../../controls/SourceBadge.tsx'
import { Term } from '../../controls/Term.tsx'
import { formatBytes, formatFloat, formatRate } from '../../drawing/format.ts'
import { MarkShape } from './marks.tsx'
import { shownSpots } from './model.ts'
import { Plot } from './Plot.tsx'
import { PointTable } from './PointTable.tsx'
import type { PictureProps } from './picture.ts'
import { rooflineTable } from './picture-tables.ts'
import { rateExtent } from './scale.ts'
import { spotSource } from './source.ts'
import { axisText, flopsText, flopsTick, perSecondText } from './words.ts'

const COLUMNS = [
  { key: 'arrangement', title: 'arrangement' },
  { key: 'place', title: 'at' },
  {
    key: 'bytes',
    title: 'bytes',
    help: 'Read by one rank in a step of the whole model, counted from its shapes',
  },
  { key: 'flops', title: 'operations', help: 'Of one rank in a step, a multiply-add as two' },
  { key: 'intensity', title: 'op/byte' },
  { key: 'rate', title: 'attained', help: 'Operations per second' },
  { key: 'ms', title: 'ms' },
  { key: 'least', title: 'at the roof ms' },
  {
    key: 'share',
    title: 'of the roof',
    help: 'Time at the roof over the time that it took; above 100% the device was faster than when it was measured',
  },
  { key: 'under', title: 'under', help: 'Which part of the roof is above it' },
  { key: 'source', title: 'source' },
] as const

const workText = (shared: boolean, worked: Worked): string => {
  if (!shared) return 'work of one rank'
  return worked === 'step'
    ? 'work of all ranks, which share the device'
    : 'work of one rank, which shares the device'
}

const shareOf = ({ leastMs, ms }: RoofPoint): string => `${formatFloat((leastMs / ms) * 100, 0)}%`

/** Bytes and operations of a step against the bandwidth and the matrix rate of the device. */
export const Roofline = (props: PictureProps) => {
  const { model, held, control, manifest, source, marks, picked, onPick, legend } = props
  const { look } = control
  const { axis, worked } = look
  const holds = otherAxis(axis)
  const roof = model.rates === null ? null : roofOf(model.rates)
  if (roof === null || model.rates === null)
    return (
      <p className="quiet throughput-none">
        The device of this sweep was not measured, so there is no roof. A new sweep measures it first.
      </p>
    )
  const { shared } = model.rates
  const spots = shownSpots(model, look).filter((spot) => spot[holds] === held)
  const points = roofPoints(spots, model.points, { shared, roof }, worked).sort(
    (a, b) => a.spot[axis] - b.spot[axis],
  )
  const ridge = ridgeOf(roof)
  const xs = rateExtent([...points.map(({ intensity }) => intensity), ridge / 4, ridge * 2], true)
  // Room below the lowest point for what limits it.
  const ys = rateExtent(
    [...points.flatMap(({ flopsPerS }) => [flopsPerS * 0.6, flopsPerS]), roof.flopsPerS * 1.2],
    true,
  )
  const [first, last] = xs.domain
  return (
    <>
      <h3>
        Roofline of {worked === 'attention' ? 'attention' : 'the step'} <SourceBadge source={source} />
        <span className="field-unit">
          at {holds} <span className="num">{axisText(holds, held)}</span>; <Term id="roofline">the roof</Term>{' '}
          is what this device read and multiplied at most before the first point:{' '}
          {perSecondText(roof.bytesPerS)} and {flopsText(roof.flopsPerS)}; {workText(shared, worked)}
        </span>
      </h3>
      {legend}
      <Plot
        label={`Roofline; ${points.length} points under ${perSecondText(roof.bytesPerS)} and ${flopsText(roof.flopsPerS)}, see the table below`}
        x={{ extent: xs, logarithmic: true, title: 'operations a byte', format: formatRate }}
        y={{ extent: ys, logarithmic: true, title: 'FLOP/s', format: flopsTick }}
      >
        {({ x, y, bottom }) => {
          const [low] = ys.domain
          // Where the slope would leave the picture below.
          const start = Math.max(first, low / roof.bytesPerS)
          return (
            <>
              <path
                className="roof-line"
                d={`M${x(start)} ${y(roofAt(roof, start))}L${x(ridge)} ${y(roof.flopsPerS)}H${x(last)}`}
              />
              <path className="roof-ridge" d={`M${x(ridge)} ${y(roof.flopsPerS)}V${bottom}`} />
              <text className="plot-note" x={x(ridge) - 6} y={bottom - 6} textAnchor="end">
                limited by memory bandwidth
              </text>
              <text className="plot-note" x={x(ridge) + 6} y={bottom - 6}>
                by matrix units
              </text>
              {points.map((point) => {
                const { spot } = point
                const mark = marks.get(arrangementName(spot))
                return mark === undefined ? null : (
                  // biome-ignore lint/a11y/noStaticElementInteractions: the table has a button for each point
                  <g
                    key={spot.key}
                    className="front-point"
                    data-testid="roof-point"
                    onClick={() => onPick(spot)}
                  >
                    <title>
                      {`${arrangementName(spot)}, ${axis} ${axisText(axis, spot[axis])}: ${flopsText(point.flopsPerS)}, ` +
                        `${perSecondText(point.bytesPerS)}, ${shareOf(point)} of the roof`}
                    </title>
                    <MarkShape
                      mark={mark}
                      x={x(point.intensity)}
                      y={y(point.flopsPerS)}
                      area={46}
                      ringed={spot === picked}
                    />
                  </g>
                )
              })}
            </>
          )
        }}
      </Plot>
      <PointTable
        name="Points under the roof"
        testId="roofline-table"
        columns={COLUMNS}
        exact={() => rooflineTable(points, roof, manifest)}
        lines={points.map((point) => ({
          key: point.spot.key,
          name: arrangementName(point.spot),
          picked: point.spot === picked,
          onPick: () => onPick(point.spot),
          cells: [
            { text: axisText(axis, point.spot[axis]) },
            { text: formatBytes(point.bytes), exact: String(point.bytes) },
            { text: flopsText(point.flops, ''), exact: String(point.flops) },
            { text: formatRate(point.intensity), exact: String(point.intensity) },
            { text: flopsText(point.flopsPerS), exact: String(point.flopsPerS) },
            { text: formatRate(point.ms), exact: `${point.ms} ms` },
            { text: formatRate(point.leastMs), exact: `${point.leastMs} ms` },
            { text: shareOf(point) },
            { text: LIMIT_WORDS[point.under] },
            { text: <SourceBadge source={spotSource(point.spot, manifest)} /> },
          ],
        }))}
      />
    </>
  )
}
