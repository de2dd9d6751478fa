import type { ReactNode } from 'react'
import type { Spot } from '../../../app/sweep/spots.ts'
import type { Manifest } from '../../../app/trace/manifest.ts'
import type { LookControl } from './look.ts'
import type { Mark } from './marks.tsx'
import type { SweepModel } from './model.ts'

/** What every picture of points is drawn from. */
export interface PictureProps {
  readonly model: SweepModel
  /** Value of the axis that is held. */
  readonly held: number
  readonly control: LookControl
  readonly manifest: Manifest
  readonly source: string | undefined
  readonly marks: ReadonlyMap<string, Mark>
  /** What the marks are, and what is left out. */
  readonly legend: ReactNode
  /** The point that is looked at. */
  readonly picked: Spot | null
  readonly onPick: (spot: Spot) => void
}
