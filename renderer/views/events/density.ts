import type { StoreResult } from '../../../app/protocol/store.ts'
import type { Severity } from '../../../app/trace/stages.ts'
import { formatInt } from '../../drawing/format.ts'

export type Density = StoreResult<'eventDensity'>

/** Lanes of the strip, the worst on top. */
export const LANES: readonly Severity[] = ['error', 'warning', 'info']

/** Parts of the steps that the strip asks for at most. */
export const DENSITY_PARTS = 240

export interface StepRange {
  readonly from: number
  readonly to: number
}

const sum = (counts: Int32Array): number => counts.reduce((total, n) => total + n, 0)

/** Steps of the parts from `a` to `b`, in either order, within the run. */
export const stepsOfParts = ({ steps, perBucket }: Density, a: number, b: number): StepRange => {
  const within = (part: number): number =>
    Math.min(Math.max(0, part), Math.max(0, Math.ceil(steps / perBucket) - 1))
  const [first, last] = [within(Math.min(a, b)), within(Math.max(a, b))]
  return { from: first * perBucket, to: Math.min(steps, (last + 1) * perBucket) - 1 }
}

/** Height of a bar, 0 to 1: the square root, so that one event is seen beside thousands. */
export const barHeight = (count: number, most: number): number =>
  count === 0 || most === 0 ? 0 : Math.sqrt(count / most)

export const mostOf = (density: Density): number =>
  LANES.reduce((most, lane) => density[lane].reduce((a, n) => Math.max(a, n), most), 0)

const stepsWord = ({ from, to }: StepRange): string =>
  from === to ? `step ${formatInt(from)}` : `steps ${formatInt(from)} to ${formatInt(to)}`

const countsText = (counts: readonly (readonly [Severity, number])[]): string => {
  const named = counts
    .filter(([, n]) => n > 0)
    .map(([lane, n]) => `${formatInt(n)} ${lane}${n === 1 || lane === 'info' ? '' : 's'}`)
  return named.length === 0 ? 'none' : named.join(', ')
}

/** What lies in a part: `steps 40 to 49: 20 errors`. */
export const partText = (density: Density, part: number): string =>
  `${stepsWord(stepsOfParts(density, part, part))}: ${countsText(LANES.map((lane) => [lane, density[lane][part] ?? 0]))}`

/** The whole strip in a sentence. */
export const densityText = (density: Density): string => {
  const total = countsText(LANES.map((lane) => [lane, sum(density[lane])]))
  const all = density.error.map((n, i) => n + (density.warning[i] ?? 0) + (density.info[i] ?? 0))
  const most = all.reduce((best, n, i) => (n > (all[best] ?? 0) ? i : best), 0)
  return total === 'none'
    ? `none in ${formatInt(density.steps)} steps`
    : `${total} in ${formatInt(density.steps)} steps, most in ${partText(density, most)}`
}
