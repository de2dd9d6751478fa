import type { Paging } from '../../../app/dcp/types.ts'
import type { Ink } from '../../drawing/ink.ts'
import type { RankPainter } from '../../drawing/rank-fill.ts'
import type { Theme } from '../../theme/colours.ts'
import type { Copies } from './copies.ts'
import type { Geometry } from './geometry.ts'
import type { Viewport } from './viewport.ts'

/** What one picture of the view is made from. */
export interface Picture {
  readonly len: number
  readonly paging: Paging
  readonly view: Viewport
  /** Physical page of each column, -1 not allocated; null without a run. */
  readonly pages: ArrayLike<number> | null
  readonly hovered: number | null
  readonly selected: number | null
  readonly rank: number | null
  /** Where a token was stored beside its place. */
  readonly copies: Copies
}

/** A picture with everything that drawing needs. */
export interface Scene extends Picture {
  readonly geometry: Geometry
  readonly theme: Theme
  readonly ink: Ink
  readonly paint: RankPainter
}
