import type { Limit } from './cost.ts'
import { grouped } from './grouped.ts'
import { arrangementName } from './spots.ts'
import type { Cell, Group } from './summary.ts'

/** What the command line and the window say of a sweep in the same words. */

export const VERDICT_WORDS: Readonly<Record<Cell['verdict'], string>> = {
  dcp: 'dcp pays',
  tp: 'tp is faster',
  'not significant': 'not significant',
}

export const LIMIT_WORDS: Readonly<Record<Limit, string>> = {
  hbm: 'memory bandwidth',
  matrix: 'matrix units',
  transport: 'transport',
  launch: 'launches',
}

/** The best arrangement of a cell, and whether it is the only one. */
export const bestText = ({ best, bestIsClear }: Pick<Cell, 'best' | 'bestIsClear'>): string =>
  `${arrangementName(best)}${bestIsClear ? '' : ' or another'}`

export const winnersText = ({ best, cells }: Pick<Group, 'best' | 'cells'>): string =>
  best.length === 0
    ? 'tp everywhere, or no significant difference'
    : best.map((one) => `${arrangementName(one)} in ${one.cells} of ${cells.length}`).join(', ')

/** Points without a measurement, a line a reason. */
export const reasonLines = (
  points: readonly { readonly key: string; readonly reason: string }[],
): { readonly text: string; readonly keys: readonly string[] }[] =>
  [...grouped(points, ({ reason }) => reason)].map(([reason, [first, ...others]]) => ({
    text: `${others.length === 0 ? first.key : `${others.length + 1} points, the first ${first.key}`}: ${reason}`,
    keys: [first, ...others].map(({ key }) => key),
  }))

export const durationText = (seconds: number): string => {
  if (seconds < 90) return `${Math.ceil(seconds)} s`
  const minutes = seconds / 60
  return minutes < 90 ? `${Math.round(minutes)} min` : `${(minutes / 60).toFixed(1)} h`
}
