import type { Ink } from '../../drawing/ink.ts'
import type { RankPainter } from '../../drawing/rank-fill.ts'
import type { Theme } from '../../theme/colours.ts'
import type { Cell } from './facts.ts'
import type { Geometry, Sizes } from './geometry.ts'
import type { ColourMode } from './look.ts'
import type { Pages } from './use-pages.ts'
import type { CellsAnswer, PoolAnswer } from './windows.ts'

/** A cell that is joined with its page; the page of a cell that is out of view is told with it. */
export type Joined = Pick<Cell, 'request' | 'column' | 'page' | 'kind'>

/** What one picture of the view is made from. */
export interface Picture {
  readonly pages: Pages
  readonly sizes: Sizes
  readonly mode: ColourMode
  /** Null while the store has not answered. */
  readonly cells: CellsAnswer | null
  readonly pool: PoolAnswer | null
  readonly selected: Joined | null
  /** Cells that are joined with what is under the pointer. */
  readonly hovered: readonly Joined[]
  /** A page under the pointer that no cell has. */
  readonly hoveredPage: number | null
  /** The cell whose page is drawn below, slot by slot. */
  readonly detail: Cell | null
  readonly request: number
  readonly token: number | null
  /** Token under the pointer in the page below. */
  readonly hoveredToken: number | null
}

/** A picture with everything that drawing needs. */
export interface Scene extends Picture {
  readonly geometry: Geometry
  readonly theme: Theme
  readonly ink: Ink
  readonly paint: RankPainter
}
