import { FactList } from '../../controls/FactList.tsx'
import type { InspectorRow } from '../../shell/Inspector.tsx'
import type { Point } from './geometry.ts'

const CARD = { width: 260, height: 190 } as const

/** Numbers of what is under the pointer; stands beside it, where there is room. */
export const HoverCard = ({
  at,
  width,
  height,
  rows,
}: {
  readonly at: Point
  readonly width: number
  readonly height: number
  readonly rows: readonly InspectorRow[]
}) => {
  const left = at.x + CARD.width > width
  const above = at.y + CARD.height > height
  return (
    <div
      className="pages-card"
      data-testid="pages-card"
      style={{
        left: at.x,
        top: at.y,
        translate: `${left ? 'calc(-100% - 14px)' : '14px'} ${above ? 'calc(-100% - 8px)' : '14px'}`,
      }}
    >
      <FactList facts={rows} />
    </div>
  )
}
