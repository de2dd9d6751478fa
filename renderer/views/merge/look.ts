import { create } from 'zustand'
import type { LseBase } from '../../../app/lse/base.ts'

export const MERGE_PARTS = ['vector', 'whatIf', 'steps'] as const
export type MergePart = (typeof MERGE_PARTS)[number]

export const PART_WORDS: Readonly<Record<MergePart, string>> = {
  vector: 'Vector',
  whatIf: 'What if',
  steps: 'Over steps',
}

/** What the map of rows and heads shows. */
export const MERGE_MAPS = ['error', 'weight'] as const
export type MergeMap = (typeof MERGE_MAPS)[number]

interface Look {
  readonly map: MergeMap
  readonly part: MergePart
  /** Base in which lse are shown; null for that of the capture. */
  readonly base: LseBase | null
  readonly showMap: (map: MergeMap) => void
  readonly show: (part: MergePart) => void
  readonly showBase: (base: LseBase) => void
}

/** How a merge is looked at; kept while other views are shown. */
export const useMergeLook = create<Look>((set) => ({
  map: 'error',
  part: 'vector',
  base: null,
  showMap: (map) => set({ map }),
  show: (part) => set({ part }),
  showBase: (base) => set({ base }),
}))
