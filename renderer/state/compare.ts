import { create } from 'zustand'
import type { Measure } from '../../app/compare/times.ts'
import type { RunRef } from '../../app/protocol/store.ts'
import type { RunConfigInput } from '../../app/run/config.ts'
import { desktop } from '../bridge/bridge.ts'
import { DEFAULT_PRESET, presetDraft } from './form.ts'
import { tell } from './messages.ts'
import { itemOf, type OpenItem, useOpen } from './open.ts'
import { endOf } from './run-end.ts'
import { shownId, useSession } from './session.ts'

/** Transports of the two runs of the sample. */
const SAMPLE = ['ag_rs', 'a2a'] as const

interface CompareStore {
  /** What was chosen to compare with; null where nothing was. */
  readonly other: OpenItem | null
  /** The measure that is looked at closely. */
  readonly measure: Measure
  /** Which run of the sample goes on. */
  readonly running: (typeof SAMPLE)[number] | null
  readonly choose: (other: OpenItem | null) => void
  readonly look: (measure: Measure) => void
  /** Runs the default configuration with two transports, and compares both. What goes wrong is told. */
  readonly runSample: () => Promise<void>
}

/** What is compared with what is shown. */
export const useCompare = create<CompareStore>((set) => ({
  other: null,
  measure: 'step',
  running: null,
  choose: (other) => {
    if (other !== null) useOpen.getState().add(other)
    set({ other })
  },
  look: (measure) => set({ measure }),
  runSample: async () => {
    const runs: string[] = []
    try {
      for (const comm of SAMPLE) {
        set({ running: comm })
        const result = await desktop().invoke('startRun', {
          config: sampleConfig(comm),
          name: `sample ${comm}`,
        })
        if (!result.ok) throw new Error(result.message)
        if (result.run === undefined || (await endOf(result.run)) !== 'complete') return
        runs.push(result.run)
      }
      const [first, second] = runs
      if (first === undefined || second === undefined) return
      await useSession.getState().refreshRuns()
      await useSession.getState().openRunById(first, { stay: true })
      useCompare.getState().choose({ kind: 'run', id: second })
    } catch (error) {
      tell('error', error instanceof Error ? error.message : String(error))
    } finally {
      set({ running: null })
    }
  },
}))

const sampleConfig = (comm: (typeof SAMPLE)[number]): RunConfigInput => {
  const config = presetDraft(DEFAULT_PRESET)
  return { ...config, parallel: { ...config.parallel, comm } }
}

/** How many words the titles of two runs share, in their places: model, size, transport, requests. */
const likeness = (one: string, other: string): number => {
  const words = other.split(', ')
  return one.split(', ').filter((word) => words.includes(word)).length
}

/**
 * What what is shown is compared with: what was chosen, else what else is open of its kind, the most alike by its title, of
 * several the first that was opened. Null where nothing is.
 */
export const comparedWith = (
  shown: OpenItem | null,
  other: OpenItem | null,
  items: readonly OpenItem[],
  runs: readonly Pick<RunRef, 'id' | 'title'>[],
): OpenItem | null => {
  if (shown === null) return null
  const open = items.filter(({ id }) => id !== shown.id)
  if (other !== null && open.some(({ id }) => id === other.id)) return other
  const titleOf = (id: string): string => runs.find((run) => run.id === id)?.title ?? ''
  const like = ({ id }: OpenItem): number => likeness(titleOf(shown.id), titleOf(id))
  return open
    .filter(({ kind }) => kind === shown.kind)
    .reduce<OpenItem | null>((best, one) => (best === null || like(one) > like(best) ? one : best), null)
}

/** What what is shown is compared with now. */
export const comparedNow = (): OpenItem | null => {
  const shown = shownId()
  return comparedWith(
    shown === null ? null : itemOf(shown),
    useCompare.getState().other,
    useOpen.getState().items,
    useSession.getState().runs,
  )
}
