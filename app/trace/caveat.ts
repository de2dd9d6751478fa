import type { Manifest } from './manifest.ts'
import type { Provenance } from './stages.ts'

/** What a manifest says of numbers that are not what they look like; at most one of both. */
export type Caveats = Pick<Manifest, 'emulated' | 'timeSliced'>

/** The word that stands beside such numbers, and the sentences behind it. */
export interface Caveat {
  readonly source: Extract<Provenance, 'emulated' | 'time-sliced'>
  readonly text: string
}

/** Undefined where all happened as it is shown. */
export const caveatOf = ({ emulated, timeSliced }: Caveats): Caveat | undefined => {
  if (emulated !== undefined) return { source: 'emulated', text: emulated }
  return timeSliced === undefined ? undefined : { source: 'time-sliced', text: timeSliced }
}
