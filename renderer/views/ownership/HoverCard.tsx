import { FactList } from '../../controls/FactList.tsx'
import type { TokenFacts } from './facts.ts'
import { factRows } from './facts-text.ts'
import type { Point } from './geometry.ts'

interface Props {
  readonly at: Point
  readonly facts: TokenFacts
  readonly hasTable: boolean
}

/** Numbers of the token under the pointer; stands beside it, on the side with more room. */
export const HoverCard = ({ at, facts, hasTable }: Props) => (
  <div
    className="ownership-card"
    data-testid="ownership-card"
    style={{
      left: at.x,
      top: at.y,
      translate: `${at.x > 320 ? 'calc(-100% - 14px)' : '14px'} ${at.y > 260 ? '-100%' : '14px'}`,
    }}
  >
    <FactList facts={factRows(facts, hasTable)} />
  </div>
)
