import type { StoreResult } from '../../../app/protocol/store.ts'
import type { Note } from '../../../app/trace/notes.ts'
import type { Stage } from '../../../app/trace/stages.ts'
import type { EventMark } from './event-marks.ts'
import type { Flow } from './flows.ts'
import type { Lanes } from './lanes.ts'
import type { TimeRange } from './range.ts'
import type { TilePiece } from './tiles.ts'

export type StepColumns = StoreResult<'steps'>

/** The critical path of a step. */
export type PathColumns = StoreResult<'stepPath'>['path']

/** A collective with the entries of all ranks. */
export interface Meeting {
  readonly lastRank: number
  readonly lastEnterNs: number
  readonly entries: readonly { readonly rank: number; readonly enterNs: number; readonly endNs: number }[]
}

/** A part of time on some ranks that a person marked. */
export interface Area {
  readonly range: TimeRange
  readonly ranks: readonly number[]
}

export interface HoveredItem {
  readonly rank: number
  readonly startNs: number
  readonly durNs: number
  readonly busyNs: number
  /** Waiting for the last rank in collectives. */
  readonly waitNs: number
  readonly stage: Stage
  readonly step: number
  readonly layer: number
  /** More than 1: so many spans merged. */
  readonly count: number
  /** Where the duration comes from: one provenance, or all of the merged spans. */
  readonly sources: readonly string[]
  /** Of a kernel its name, '' of several that were merged; spans have none. */
  readonly kernel?: string
}

/** All that a drawing depends on. */
export interface Scene {
  readonly range: TimeRange
  readonly lanes: Lanes
  readonly pieces: readonly TilePiece[]
  readonly steps: StepColumns | null
  readonly dimmed: ReadonlySet<Stage>
  readonly selectedRank: number | null
  readonly selectedStep: number | null
  readonly selected: HoveredItem | null
  readonly hovered: HoveredItem | null
  readonly pickedKernel: HoveredItem | null
  /** The worst first. */
  readonly events: readonly EventMark[]
  /** What people wrote about spans. */
  readonly notes: readonly Note[]
  /** Collectives of which single spans are loaded; none where a person does not want them. */
  readonly flows: readonly Flow[]
  /** The selected collective. */
  readonly meeting: Meeting | null
  /** Of the selected step, where it is asked for. */
  readonly path: PathColumns | null
  readonly area: Area | null
  /** The part of time that is being marked to be zoomed to. */
  readonly zoomBox: TimeRange | null
  /** Marked times, ns, rising. */
  readonly marks: readonly number[]
}
