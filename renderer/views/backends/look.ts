import { create } from 'zustand'
import type { Framework } from '../../../app/backends/profile.ts'

/** Which rows are shown: all, or those with such a verdict in a shown column. */
export type Wanted = 'all' | 'refused' | 'fallback'

export interface Look {
  /** Words that name back-ends, features or rules. */
  readonly words: string
  readonly wanted: Wanted
  readonly framework: Framework | 'all'
}

interface LookStore extends Look {
  readonly change: (parts: Partial<Look>) => void
}

/** How the matrix is looked at, kept while other views are shown. */
export const useLook = create<LookStore>((set) => ({
  words: '',
  wanted: 'all',
  framework: 'all',
  change: (parts) => set(parts),
}))
