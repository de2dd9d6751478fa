import { usePlotArea, useXAxisScale, useYAxisScale } from 'recharts'
import type { Course, Crossing } from '../../../app/sweep/crossings.ts'
import type { Mark } from './marks.tsx'
import { lanesOf } from './scale.ts'

/** Pixels that a letter of a label takes, and a line of labels. */
const LETTER = 6.2
const LINE = 13

interface Props {
  readonly courses: readonly Course[]
  readonly marks: ReadonlyMap<string, Mark>
}

interface Named {
  readonly name: string
  readonly crossing: Crossing
}

/** The names of crossovers on the curves: each stands in a line of its own where there is room, above its place. */
export const CrossingMarks = ({ courses, marks }: Props) => {
  const area = usePlotArea()
  const toX = useXAxisScale()
  const toY = useYAxisScale()
  if (area === undefined || toX === undefined || toY === undefined) return null
  const named = courses
    .flatMap(({ name, crossings }) => crossings.map((crossing): Named => ({ name, crossing })))
    .sort((a, b) => a.crossing.at - b.crossing.at)
  const spans = named.map(({ name, crossing }): [number, number] => {
    const width = (name.length + 2) * LETTER
    const x = Math.min(toX(crossing.at) ?? 0, area.x + area.width - width)
    return [x, x + width]
  })
  const lanes = lanesOf(spans)
  return (
    <g className="crossings">
      {named.map(({ name, crossing }, i) => {
        const [x, y] = [toX(crossing.at) ?? 0, toY(crossing.rate) ?? 0]
        const top = area.y + 10 + (lanes[i] ?? 0) * LINE
        const colour = marks.get(name)?.colour
        return (
          <g key={`${name} ${crossing.at}`} data-testid="crossing-mark">
            <path
              className={crossing.clear ? 'crossing-line' : 'crossing-line crossing-unclear'}
              d={`M${x} ${top - 8}V${y}`}
              stroke={colour}
            />
            <circle cx={x} cy={y} r={4} className="crossing-dot" stroke={colour} />
            <text className="plot-note" x={(spans[i]?.[0] ?? x) + 4} y={top}>
              {`${name}${crossing.clear ? '' : ' ?'}`}
            </text>
          </g>
        )
      })}
    </g>
  )
}
