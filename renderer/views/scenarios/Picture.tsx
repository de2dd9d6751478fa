import type { Scenario } from '../../../app/scenarios/scenario.ts'
import { rankColour, rankInk } from '../../theme/colours.ts'
import { useTheme } from '../../theme/use-theme.ts'
import { pictureOf } from './model.ts'

const LANE = 24
const TOP = 20
const LEFT = 34
const BOX = 94
const GAP = 8

/** The parts of a step from left to right, a lane a rank; where the fault acts is marked, and what follows from it is shaded. */
export const Picture = ({ scenario }: { readonly scenario: Scenario }) => {
  const theme = useTheme()
  const { ranks, stations, marks } = pictureOf(scenario)
  const lanes = Array.from({ length: Math.min(ranks, 16) }, (_, rank) => rank)
  const width = LEFT + stations.length * (BOX + GAP)
  const height = TOP + lanes.length * LANE + 4
  const first = Math.min(...marks.map(({ station }) => stations.findIndex(({ id }) => id === station)))
  const markOf = (station: string, rank: number) =>
    marks.find((mark) => mark.station === station && mark.ranks.includes(rank))
  const text = marks
    .map(
      ({ point, ranks: of }) => `${point} on ${of.length === ranks ? 'all ranks' : `rank ${of.join(', ')}`}`,
    )
    .join('; ')
  return (
    <figure className="scenario-picture">
      <svg
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-label={`A step from left to right on ${ranks} ranks; it goes wrong at ${text}`}
      >
        {stations.map(({ id, title }, column) => (
          <text key={id} x={LEFT + column * (BOX + GAP) + BOX / 2} y={12} className="scenario-station">
            {title}
          </text>
        ))}
        {lanes.map((rank) => (
          <g key={rank} transform={`translate(0 ${TOP + rank * LANE})`}>
            <rect x={0} y={2} width={22} height={LANE - 8} rx={2} fill={rankColour(rank, theme)} />
            <text x={11} y={LANE / 2 + 2} className="scenario-rank" fill={rankInk(rank, theme)}>
              {rank}
            </text>
            {stations.map(({ id }, column) => {
              const mark = markOf(id, rank)
              const x = LEFT + column * (BOX + GAP)
              return (
                <g key={id}>
                  <rect
                    x={x}
                    y={2}
                    width={BOX}
                    height={LANE - 8}
                    rx={2}
                    className={
                      mark !== undefined
                        ? 'scenario-box scenario-box-fault'
                        : column > first
                          ? 'scenario-box scenario-box-after'
                          : 'scenario-box'
                    }
                  />
                  {mark === undefined ? null : (
                    <text x={x + BOX / 2} y={LANE / 2 + 2} className="scenario-point">
                      {mark.point.split('.').at(-1)}
                    </text>
                  )}
                  {column === 0 ? null : (
                    <line x1={x - GAP} x2={x} y1={LANE / 2 - 2} y2={LANE / 2 - 2} className="scenario-line" />
                  )}
                </g>
              )
            })}
          </g>
        ))}
      </svg>
      <figcaption>
        It goes wrong at {text}
        {first < stations.length - 1 ? '; what comes behind works on that' : ''}.
      </figcaption>
    </figure>
  )
}
