import type { Ambiguity } from './ambiguity.ts'
import type { Outcome, Trial } from './trial.ts'

export interface Summary {
  /** Runs without a fault, or with one that changed nothing in the dump, and those of them with a finding. */
  readonly healthyRuns: number
  readonly falseAlarms: number
  /** Cases whose fault has the tensors that it needs. */
  readonly decidable: number
  readonly firstIsRight: number
  readonly ambiguousWithTheRightOne: number
  /** Of these, by whether the predictions of the faults that are named differ somewhere in the tensors (ambiguity.ts). */
  readonly ambiguity: Readonly<Record<Ambiguity, number>>
  readonly wrong: number
  readonly missed: number
  /** Share of the decidable cases whose first finding, or one that it is said to look like, is the right one. */
  readonly accuracy: number
  /** The same without those that are ambiguous. */
  readonly accuracyUnambiguous: number
  /** Cases whose fault lacks tensors: said to be unchecked, found all the same, or another one named. */
  readonly undecidable: number
  readonly saidUnchecked: number
  readonly anotherNamed: number
  /** Cases by their fault and what was named first; `none` where nothing was. Decidable ones only. */
  readonly confusion: Readonly<Record<string, Readonly<Record<string, number>>>>
  /** What came of each fault. */
  readonly outcomes: Readonly<Record<string, Readonly<Record<string, number>>>>
  /** Seeds of cases that did not go well, to look at with one case alone. */
  readonly seeds: readonly { readonly seed: number; readonly fault: string; readonly outcome: Outcome }[]
}

const DECIDED: readonly Outcome[] = ['right', 'ambiguous', 'wrong', 'missed']
const BAD: readonly Outcome[] = ['wrong', 'missed', 'false alarm', 'wrong, undecidable']

/** What came of all cases. */
export const summary = (trials: readonly Trial[]): Summary => {
  const count = (...outcomes: readonly Outcome[]): number =>
    trials.filter(({ outcome }) => outcomes.includes(outcome)).length
  const ambiguous = (kind: Ambiguity): number => trials.filter(({ ambiguity }) => ambiguity === kind).length
  const decidable = count(...DECIDED)
  const decided = trials.filter(({ outcome }) => DECIDED.includes(outcome))
  return {
    healthyRuns: count('healthy', 'false alarm'),
    falseAlarms: count('false alarm'),
    decidable,
    firstIsRight: count('right'),
    ambiguousWithTheRightOne: count('ambiguous'),
    ambiguity: { equal: ambiguous('equal'), open: ambiguous('open'), different: ambiguous('different') },
    wrong: count('wrong'),
    missed: count('missed'),
    accuracy: count('right', 'ambiguous') / decidable,
    accuracyUnambiguous: count('right') / decidable,
    undecidable: count('not checked', 'wrong, undecidable'),
    saidUnchecked: count('not checked'),
    anotherNamed: count('wrong, undecidable'),
    confusion: table(
      decided,
      ({ fault }) => fault,
      ({ first }) => first,
    ),
    outcomes: table(
      trials,
      ({ fault }) => fault,
      ({ outcome }) => outcome,
    ),
    seeds: trials
      .filter(({ outcome, ambiguity }) => BAD.includes(outcome) || ambiguity === 'different')
      .map(({ seed, fault, outcome }) => ({ seed, fault, outcome })),
  }
}

const table = (
  trials: readonly Trial[],
  row: (trial: Trial) => string,
  column: (trial: Trial) => string,
): Record<string, Record<string, number>> => {
  const counts: Record<string, Record<string, number>> = {}
  for (const trial of trials) {
    const cells = counts[row(trial)] ?? {}
    cells[column(trial)] = (cells[column(trial)] ?? 0) + 1
    counts[row(trial)] = cells
  }
  return counts
}
