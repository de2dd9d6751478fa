import { type StepSpan, waitOfSpan } from './step-spans.ts'

/** A collective of a step: who made the others wait, and for how long. */
export interface Collective {
  readonly number: number
  readonly stage: number
  readonly layer: number
  /** The rank that entered last, the lowest of several. */
  readonly lastRank: number
  readonly lastEnterNs: number
  /** Waiting of all ranks together, ns. */
  readonly waitNs: number
  /** Ranks that entered it. */
  readonly spans: readonly StepSpan[]
}

/** The collectives of a step by their number. */
export const collectivesOf = (spans: readonly StepSpan[]): ReadonlyMap<number, Collective> => {
  const groups = new Map<number, StepSpan[]>()
  for (const span of spans) {
    if (span.collective < 0) continue
    const group = groups.get(span.collective)
    if (group === undefined) groups.set(span.collective, [span])
    else group.push(span)
  }
  return new Map([...groups].map(([number, group]) => [number, collectiveOf(number, group)]))
}

const collectiveOf = (number: number, group: readonly StepSpan[]): Collective => {
  const spans = [...group].sort((a, b) => a.rank - b.rank)
  const last = spans.reduce((latest, span) => (span.enterNs > latest.enterNs ? span : latest))
  return {
    number,
    stage: last.stage,
    layer: last.layer,
    lastRank: last.rank,
    lastEnterNs: last.enterNs,
    waitNs: spans.reduce((sum, span) => sum + waitOfSpan(span), 0),
    spans,
  }
}
