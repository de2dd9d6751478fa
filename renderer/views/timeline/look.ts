import { create } from 'zustand'
import type { Stage } from '../../../app/trace/stages.ts'
import { keepZoom } from '../../state/zoom.ts'
import type { TimeRange } from './range.ts'
import type { Area, HoveredItem } from './scene.ts'
import { jumpedLook } from './use-range.ts'

/** How a person looks at one run; kept while other views are shown. */
export interface Look {
  /** null shows all, however long the run gets. */
  readonly range: TimeRange | null
  /** Whether the end of a live run stays in view. */
  readonly follow: boolean
  /** Ranges before each zoom, oldest first. */
  readonly past: readonly (TimeRange | null)[]
  /** When the last zoom was, ms: zooms that follow each other closely are undone together. */
  readonly zoomedAtMs: number
  readonly dimmed: ReadonlySet<Stage>
  /** Whether lines lead from the last rank of a collective to those that waited for it. */
  readonly flows: boolean
  readonly area: Area | null
  /** The kernel that was picked last. */
  readonly kernel: HoveredItem | null
  /** Marked times, ns, rising. */
  readonly marks: readonly number[]
  /** Pixels by which the lanes are scrolled. */
  readonly scroll: number
}

export const FIRST_LOOK: Look = {
  range: null,
  follow: true,
  past: [],
  zoomedAtMs: Number.NEGATIVE_INFINITY,
  dimmed: new Set(),
  flows: true,
  area: null,
  kernel: null,
  marks: [],
  scroll: 0,
}

interface LookStore {
  readonly run: string | null
  readonly look: Look
  readonly change: (run: string | null, next: (look: Look) => Partial<Look>) => void
}

export const useLookStore = create<LookStore>((set) => ({
  run: null,
  look: FIRST_LOOK,
  change: (run, next) =>
    set((s) => {
      const before = s.run === run ? s.look : FIRST_LOOK
      return { run, look: { ...before, ...next(before) } }
    }),
}))

keepZoom('timeline', {
  read: (run) => {
    const { look, run: of } = useLookStore.getState()
    return of === run && look.range !== null ? [look.range.startNs, look.range.endNs] : null
  },
  show: (run, zoom) => {
    const range = zoom === null ? null : { startNs: zoom[0], endNs: zoom[1] }
    useLookStore.getState().change(run, (look) => {
      const same = look.range?.startNs === range?.startNs && look.range?.endNs === range?.endNs
      return same ? {} : { ...jumpedLook(look, range), follow: range === null }
    })
  },
})

export interface LookControl {
  readonly look: Look
  readonly change: (next: (look: Look) => Partial<Look>) => void
}

/** The look at `run`: what was kept of it, or the first one. */
export const useLook = (run: string | null): LookControl => {
  const look = useLookStore((s) => (s.run === run ? s.look : FIRST_LOOK))
  const change = useLookStore((s) => s.change)
  return { look, change: (next) => change(run, next) }
}

export const toggledStage = (dimmed: ReadonlySet<Stage>, stage: Stage): ReadonlySet<Stage> => {
  const next = new Set(dimmed)
  if (!next.delete(stage)) next.add(stage)
  return next
}

/** Adds a mark at `ns`, or takes away the one that lies within `nearNs` of it. */
export const toggledMark = (marks: readonly number[], ns: number, nearNs: number): readonly number[] => {
  const near = marks.filter((mark) => Math.abs(mark - ns) <= nearNs)
  if (near.length > 0) return marks.filter((mark) => !near.includes(mark))
  return [...marks, ns].sort((a, b) => a - b)
}
