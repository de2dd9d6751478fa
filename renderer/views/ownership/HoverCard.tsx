import { FactList } from '../../controls/FactList.tsx'
import type { TokenFacts } from './facts.ts'
import { factRows } from './facts-text.ts'
import type { CardPlace, Point } from './geometry.ts'

interface Props {
  readonly at: Point
  readonly place: CardPlace
  readonly facts: TokenFacts
  readonly hasTable: boolean
}

/** Numbers of the token under the pointer; stands beside it. */
export const HoverCard = ({ at, place, facts, hasTable }: Props) => (
  <div
    className="ownership-card"
    data-testid="ownership-card"
    style={{
      left: at.x,
      top: at.y,
      translate: `${place.left ? 'calc(-100% - 14px)' : '14px'} ${place.above ? 'calc(-100% - 8px)' : '14px'}`,
    }}
  >
    <FactList facts={factRows(facts, hasTable)} />
  </div>
)
