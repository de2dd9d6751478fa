import { type FrontPoint, frontOf } from '../../../app/sweep/front.ts'
import { type PublishedPair, publishedPairs } from '../../../app/sweep/overlay.ts'
import { arrangementName } from '../../../app/sweep/spots.ts'
import { SourceBadge } from '../../controls/SourceBadge.tsx'
import { Term } from '../../controls/Term.tsx'
import { formatInt, formatRate } from '../../drawing/format.ts'
import { MarkShape } from './marks.tsx'
import { shownSpots } from './model.ts'
import { type Frame, Plot } from './Plot.tsx'
import { PointTable } from './PointTable.tsx'
import { publishedName, publishedShape } from './Published.tsx'
import type { PictureProps } from './picture.ts'
import { frontTable } from './picture-tables.ts'
import { rateExtent } from './scale.ts'
import { spotSource } from './source.ts'
import { tokensText } from './words.ts'

const COLUMNS = [
  { key: 'arrangement', title: 'arrangement' },
  { key: 'concurrency', title: 'concurrency', help: 'Requests that are asked for' },
  { key: 'batch', title: 'batch', help: 'Requests that run at once' },
  { key: 'ms', title: 'ms a token', help: 'What a user waits for a token: batch over tokens/s' },
  { key: 'gpu', title: 'tokens/s a GPU', help: 'Tokens/s of the group over its GPUs' },
  { key: 'group', title: 'tokens/s', help: 'Of the group' },
  {
    key: 'front',
    title: 'front',
    help: 'On the front, or a point that is better in one and no worse in the other',
  },
  { key: 'source', title: 'source' },
] as const

/** Latency against throughput at one context: the points that no other beats in both, and the others dimmed. */
export const Front = ({
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
  const spots = shownSpots(model, look).filter(({ context }) => context === held)
  const points = frontOf(spots, model.facet.world)
  const rateOf = ({ perGpu, spot }: FrontPoint): number => (look.perGpu ? perGpu : spot.tokensPerSecond)
  const front = points.filter(({ beatenBy }) => beatenBy === null)
  const log = look.logarithmic
  const published = look.published ? publishedPairs(held) : []
  const publishedRate = ({ rate }: PublishedPair): number =>
    look.perGpu ? rate.value / (rate.world ?? 1) : rate.value
  const line = ({ x, y }: Frame): string =>
    `M${front.map((point) => `${x(point.msPerToken)} ${y(rateOf(point))}`).join('L')}`
  if (points.length === 0)
    return <p className="quiet throughput-none">Nothing is measured at context {tokensText(held)}.</p>
  return (
    <>
      <h3>
        Latency against throughput <SourceBadge source={source} />
        <span className="field-unit">
          at context <span className="num">{tokensText(held)}</span>; each mark a concurrency; joined: the{' '}
          <Term id="front" />, from few requests to many; dimmed: another point is better
          {published.length === 0 ? '' : '; crosses and diamonds: published by others with and without DCP'}
        </span>
      </h3>
      {legend}
      <Plot
        label={`Front; ${front.length} of ${points.length} points at context ${held} are on it, see the table below`}
        x={{
          extent: rateExtent(
            [...points.map((point) => point.msPerToken), ...published.map(({ latency }) => latency.value)],
            log,
          ),
          logarithmic: log,
          title: 'ms a token, for a user',
          format: formatRate,
        }}
        y={{
          extent: rateExtent([...points.map(rateOf), ...published.map(publishedRate)], log),
          logarithmic: log,
          title: look.perGpu ? 'tokens/s a GPU' : 'tokens/s of the group',
          format: formatRate,
        }}
      >
        {(frame) => (
          <>
            <path className="front-line" d={line(frame)} />
            {published.map((pair) => (
              <g
                key={publishedName(pair.rate)}
                className="published-dot"
                data-testid="front-published"
                transform={`translate(${frame.x(pair.latency.value)} ${frame.y(publishedRate(pair))})`}
              >
                <title>{`published: ${pair.rate.source}`}</title>
                <path d={publishedShape(pair.rate)} />
              </g>
            ))}
            {[...points].reverse().map((point) => {
              const { spot, beatenBy } = point
              const mark = marks.get(arrangementName(spot))
              const [x, y] = [frame.x(point.msPerToken), frame.y(rateOf(point))]
              return mark === undefined ? null : (
                // biome-ignore lint/a11y/noStaticElementInteractions: the table has a button for each point
                <g
                  key={spot.key}
                  className={beatenBy === null ? 'front-point' : 'front-point front-beaten'}
                  data-testid={beatenBy === null ? 'front-on' : 'front-beaten'}
                  onClick={() => onPick(spot)}
                >
                  <title>
                    {`${arrangementName(spot)}, concurrency ${formatInt(spot.concurrency)}: ${formatRate(point.msPerToken)} ms a token, ` +
                      `${formatRate(point.perGpu)} tokens/s a GPU`}
                  </title>
                  <MarkShape
                    mark={mark}
                    x={x}
                    y={y}
                    area={52}
                    capped={spot.capacityLimited}
                    ringed={spot === picked}
                  />
                  {/* Up and to the left of the front there is nothing. */}
                  {beatenBy === null ? (
                    <text
                      className="plot-note"
                      x={x - 9}
                      y={y - 9}
                      textAnchor={x - frame.left < 50 ? 'start' : 'end'}
                    >
                      {`n ${formatInt(spot.concurrency)}`}
                    </text>
                  ) : null}
                </g>
              )
            })}
          </>
        )}
      </Plot>
      <PointTable
        name="Points of the front"
        testId="front-table"
        columns={COLUMNS}
        exact={() => frontTable(points, manifest)}
        lines={[...front, ...points.filter(({ beatenBy }) => beatenBy !== null)].map((point) => {
          const { spot, beatenBy } = point
          return {
            key: spot.key,
            name: arrangementName(spot),
            dim: beatenBy !== null,
            picked: spot === picked,
            onPick: () => onPick(spot),
            cells: [
              { text: formatInt(spot.concurrency) },
              { text: formatInt(spot.batch) },
              { text: formatRate(point.msPerToken), exact: `${point.msPerToken} ms` },
              { text: formatRate(point.perGpu), exact: String(point.perGpu) },
              { text: formatRate(spot.tokensPerSecond), exact: String(spot.tokensPerSecond) },
              {
                text:
                  beatenBy === null
                    ? 'on the front'
                    : `${arrangementName(beatenBy)} n ${formatInt(beatenBy.concurrency)} is better`,
              },
              { text: <SourceBadge source={spotSource(spot, manifest)} /> },
            ],
          }
        })}
      />
    </>
  )
}
