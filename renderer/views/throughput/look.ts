import { create } from 'zustand'
import type { SweepConfig } from '../../../app/sweep/config.ts'
import type { Worked } from '../../../app/sweep/roofline.ts'
import type { Axis, Facet, Kind } from '../../../app/sweep/spots.ts'

/** Which rates are compared: those measured here, or those predicted for GPUs with a rank each. */
export type Compared = Exclude<Kind, 'local'>

/** What is drawn of a sweep, above the map. */
export const PICTURES = ['curves', 'front', 'stages', 'roofline', 'capacity'] as const
export type Picture = (typeof PICTURES)[number]

/** How a person looks at one sweep; kept while other views are shown. */
export interface Look {
  /** null: measured, where anything is. */
  readonly compared: Compared | null
  readonly facet: Facet | null
  readonly picture: Picture
  /** Confidence of the curves as bands. */
  readonly bands: boolean
  /** The front in tokens/s a GPU, else of the group. */
  readonly perGpu: boolean
  /** Stages as shares of the step, else in milliseconds. */
  readonly shares: boolean
  /** What the roofline holds against the roof. */
  readonly worked: Worked
  /** What the curves run along. */
  readonly axis: Axis
  /** What is held while they run along the other axis; null: the largest with points. */
  readonly held: Readonly<Record<Axis, number | null>>
  /** Name of the arrangement whose point is looked at; null: the best of the cell. */
  readonly arrangement: string | null
  /** Names of arrangements that the curves leave out. */
  readonly hidden: ReadonlySet<string>
  /** Whether the cost model's curves stand beside the measured ones. */
  readonly model: boolean
  readonly published: boolean
  readonly logarithmic: boolean
}

export const FIRST_LOOK: Look = {
  compared: null,
  facet: null,
  picture: 'curves',
  bands: true,
  perGpu: true,
  shares: true,
  worked: 'attention',
  axis: 'concurrency',
  held: { context: null, concurrency: null },
  arrangement: null,
  hidden: new Set(),
  model: false,
  published: false,
  logarithmic: false,
}

const ALONG_CONTEXT: Look = { ...FIRST_LOOK, axis: 'context' }

/** How a sweep is looked at first: along the axis that it has several values of. */
export const firstLook = ({ context, concurrency }: Pick<SweepConfig, 'context' | 'concurrency'>): Look =>
  concurrency.length < 2 && context.length > 1 ? ALONG_CONTEXT : FIRST_LOOK

interface LookStore {
  readonly run: string | null
  readonly look: Look
  readonly change: (run: string, first: Look, parts: Partial<Look>) => void
}

const useLookStore = create<LookStore>((set) => ({
  run: null,
  look: FIRST_LOOK,
  change: (run, first, parts) =>
    set((s) => ({ run, look: { ...(s.run === run ? s.look : first), ...parts } })),
}))

export interface LookControl {
  readonly look: Look
  readonly change: (parts: Partial<Look>) => void
}

/** The look at a sweep: what was kept of it, or the first one. */
export const useLook = (run: string, first: Look): LookControl => {
  const look = useLookStore((s) => (s.run === run ? s.look : first))
  const change = useLookStore((s) => s.change)
  return { look, change: (parts) => change(run, first, parts) }
}

export const toggled = (names: ReadonlySet<string>, name: string): ReadonlySet<string> => {
  const next = new Set(names)
  if (!next.delete(name)) next.add(name)
  return next
}
