import { type Caveats, caveatOf } from '../../app/trace/caveat.ts'
import { PROVENANCES, type Provenance } from '../../app/trace/stages.ts'

/** Provenances of a set of bits, as tiles carry them. */
export const sourcesOfBits = (bits: number): Provenance[] =>
  PROVENANCES.filter((_, n) => (bits & (1 << n)) !== 0)

/** Provenance of a code, as columns carry it; null for an unknown code. */
export const sourceOfCode = (code: number | undefined): Provenance | null =>
  code === undefined ? null : (PROVENANCES[code] ?? null)

/**
 * What stands beside numbers with these provenances: nothing where all were measured, and `partly` before the rest
 * where only some were.
 */
export const sourceNote = (sources: readonly (string | null)[]): string | undefined => {
  const named = [...new Set(sources.filter((source) => source !== null))]
  const others = named.filter((source) => source !== 'measured')
  if (others.length === 0) return undefined
  return others.length < named.length ? `partly ${others.join(', ')}` : others.join(', ')
}

/**
 * Where the places of spans in time come from, if they are not what they look like: lanes of ranks that ran in turn are
 * shifted, and those of ranks whose processes got turns hold the turns of others.
 */
export const placedSource = (manifest: Caveats): Provenance | undefined => caveatOf(manifest)?.source

/**
 * What stands beside times and rates of a step: `provenance` of the step names one reason, and where ranks shared a GPU
 * that is another one. Nothing where there is no step yet.
 */
export const stepNote = (provenance: Provenance | null, manifest: Caveats): string | undefined =>
  provenance === null ? undefined : sourceNote([provenance, placedSource(manifest) ?? null])

/** A text that leaves the window takes along what stood beside it. */
export const withSource = (text: string, source: string | undefined): string =>
  source === undefined ? text : `${text} (${source})`
