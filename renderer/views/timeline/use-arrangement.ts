import { create } from 'zustand'
import { load, save } from '../../state/kept.ts'
import { FIRST_ARRANGEMENT, type LaneArrangement, parsedArrangement } from './arrangement.ts'

/** Runs whose arrangement is kept, the last changed last. */
const MOST_RUNS = 50
const KEY = 'timelineLanes'

type Kept = readonly { readonly run: string; readonly arrangement: LaneArrangement }[]

const loadKept = (): Kept => {
  const value = load(KEY)
  if (!Array.isArray(value)) return []
  return value.flatMap((entry: unknown) => {
    if (typeof entry !== 'object' || entry === null) return []
    const run: unknown = Reflect.get(entry, 'run')
    const arrangement = parsedArrangement(Reflect.get(entry, 'arrangement'))
    return typeof run === 'string' && arrangement !== null ? [{ run, arrangement }] : []
  })
}

interface ArrangementStore {
  readonly kept: Kept
  readonly change: (run: string, next: (arrangement: LaneArrangement) => LaneArrangement) => void
}

const ofRun = (kept: Kept, run: string): LaneArrangement =>
  kept.find((entry) => entry.run === run)?.arrangement ?? FIRST_ARRANGEMENT

/** How lanes are arranged, run by run; kept for the next start. */
const useArrangements = create<ArrangementStore>((set) => ({
  kept: loadKept(),
  change: (run, next) =>
    set(({ kept }) => {
      const others = kept.filter((entry) => entry.run !== run)
      const after = [...others, { run, arrangement: next(ofRun(kept, run)) }].slice(-MOST_RUNS)
      save(KEY, after)
      return { kept: after }
    }),
}))

export interface ArrangementControl {
  readonly arrangement: LaneArrangement
  readonly change: (next: (arrangement: LaneArrangement) => LaneArrangement) => void
}

/** The lanes of `run`: as they were left, or as they come. */
export const useArrangement = (run: string): ArrangementControl => {
  const arrangement = useArrangements((s) => ofRun(s.kept, run))
  const change = useArrangements((s) => s.change)
  return { arrangement, change: (next) => change(run, next) }
}
