import { withSource } from '../../drawing/provenance.ts'

/** Two marked times that follow each other. */
export interface Measure {
  readonly fromNs: number
  readonly toNs: number
}

/** What lies between neighbouring marks (rising), the earliest first. */
export const measuresOf = (marks: readonly number[]): readonly Measure[] =>
  marks.slice(1).map((toNs, i) => ({ fromNs: marks[i] ?? toNs, toNs }))

/** The nearest of `edges` within `nearNs` of `ns`, or `ns` itself: a mark set beside an edge is meant to be on it. */
export const snapped = (ns: number, edges: Iterable<number>, nearNs: number): number => {
  let best = ns
  let distance = nearNs
  for (const edge of edges) {
    const away = Math.abs(edge - ns)
    if (away > distance) continue
    best = edge
    distance = away
  }
  return best
}

/** The measured time as it is copied: whole nanoseconds. */
export const measureText = ({ fromNs, toNs }: Measure, source: string | undefined): string =>
  withSource(`${Math.round(toNs - fromNs)} ns`, source)
