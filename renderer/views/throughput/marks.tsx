import {
  type SymbolType,
  symbol,
  symbolCircle,
  symbolCross,
  symbolDiamond,
  symbolSquare,
  symbolStar,
  symbolTriangle,
  symbolWye,
} from 'd3'
import { arrangementName } from '../../../app/sweep/spots.ts'
import type { Arrangement } from '../../../app/sweep/summary.ts'
import { baselineColour, sizeColour, type Theme } from '../../theme/colours.ts'

/** How an arrangement is drawn: shape and hue are its size, filling and lightness its transport. */
export interface Mark {
  readonly name: string
  readonly colour: string
  readonly shape: SymbolType
  readonly filling: 'full' | 'empty' | 'dotted'
}

const SHAPES: readonly SymbolType[] = [
  symbolCircle,
  symbolSquare,
  symbolTriangle,
  symbolDiamond,
  symbolStar,
  symbolWye,
]
const FILLINGS = ['full', 'empty', 'dotted'] as const
const TRANSPORTS: readonly string[] = ['ag_rs', 'a2a', 'p2p']

/** Marks of all arrangements of a sweep, by name. */
export const marksOf = (arrangements: readonly Arrangement[], theme: Theme): ReadonlyMap<string, Mark> => {
  const sizes = [...new Set(arrangements.filter(({ mode }) => mode !== 'tp').map(({ dcp }) => dcp))].sort(
    (a, b) => a - b,
  )
  return new Map(
    arrangements.map((arrangement): [string, Mark] => {
      const name = arrangementName(arrangement)
      if (arrangement.mode === 'tp')
        return [name, { name, colour: baselineColour(theme), shape: symbolCross, filling: 'full' }]
      const size = sizes.indexOf(arrangement.dcp)
      const transport = Math.max(0, TRANSPORTS.indexOf(arrangement.comm))
      return [
        name,
        {
          name,
          colour: sizeColour(size, transport, theme),
          shape: SHAPES[size % SHAPES.length] ?? symbolCircle,
          filling: FILLINGS[transport] ?? 'full',
        },
      ]
    }),
  )
}

interface Props {
  readonly mark: Mark
  readonly x: number
  readonly y: number
  /** Area of the shape in square pixels. */
  readonly area: number
  /** The rate is that of what the pool holds: a stroke through the shape. */
  readonly capped?: boolean | undefined
  readonly ringed?: boolean
}

/** The point of an arrangement. */
export const MarkShape = ({ mark: { colour, shape, filling }, x, y, area, capped, ringed }: Props) => (
  <g transform={`translate(${x} ${y})`} className="mark">
    {ringed === true ? <circle r={9} className="mark-ring" /> : null}
    <path
      d={symbol(shape, area)() ?? ''}
      className={filling === 'full' ? undefined : 'mark-empty'}
      fill={filling === 'full' ? colour : undefined}
      stroke={colour}
      strokeWidth={1.5}
    />
    {filling === 'dotted' ? <circle r={1.5} fill={colour} /> : null}
    {capped === true ? <path d="M-8 8L8 -8" stroke={colour} strokeWidth={2} /> : null}
  </g>
)
