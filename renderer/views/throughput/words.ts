import type { Axis } from '../../../app/sweep/spots.ts'
import type { Cell, Frontier, Group, ModelError, Regime } from '../../../app/sweep/summary.ts'
import { LIMIT_WORDS } from '../../../app/sweep/words.ts'
import { formatFloat, formatInt, formatRate } from '../../drawing/format.ts'

const K = 1024

/** Tokens as contexts are named: `4K`, `1M`, `1 000`. */
export const tokensText = (tokens: number): string => {
  if (tokens >= K * K && tokens % (K * K) === 0) return `${tokens / (K * K)}M`
  return tokens >= K && tokens % K === 0 ? `${tokens / K}K` : formatInt(tokens)
}

export const axisText = (axis: Axis, value: number): string =>
  axis === 'context' ? tokensText(value) : formatInt(value)

/** Beyond that an interval of few repeats says nothing more. */
const LARGE_RATIO = 1000

/** A ratio as a difference: `+38%`, `−4.2%`. */
export const gainText = (ratio: number): string => {
  if (ratio > LARGE_RATIO) return `over +${formatInt((LARGE_RATIO - 1) * 100)}%`
  const percent = (ratio - 1) * 100
  const text = formatFloat(percent, Math.abs(percent) < 9.95 ? 1 : 0)
  return `${percent > 0 ? '+' : ''}${text}%`
}

/** `+38% (+35% to +41%)`: the gain with its interval, where there is one. */
export const intervalText = ({ gain, interval }: Cell): string =>
  interval === null
    ? gainText(gain)
    : `${gainText(gain)} (95%: ${gainText(interval[0])} to ${gainText(interval[1])})`

/** From where DCP pays, `along` an axis, or else where it does. */
export const paysText = (along: Axis, { from, pays, unclear }: Frontier): string => {
  if (from !== null) return `pays from ${along} ${axisText(along, from)} on`
  if (pays.length > 0)
    return `pays at ${along} ${pays.map((value) => axisText(along, value)).join(', ')}, not up to the largest`
  return unclear ? `pays at no ${along}; in part not significant` : `pays at no ${along}`
}

const rangeText = (axis: Axis, [least, most]: readonly [number, number]): string =>
  least === most ? axisText(axis, least) : `${axisText(axis, least)} to ${axisText(axis, most)}`

export const regimeText = ({ limit, points, contexts, concurrencies }: Regime): string =>
  `${LIMIT_WORDS[limit]} in ${formatInt(points)} ${points === 1 ? 'point' : 'points'}: context ` +
  `${rangeText('context', contexts)}, concurrency ${rangeText('concurrency', concurrencies)}`

export const errorText = ({ points, median, p90 }: ModelError): string =>
  `predicted over measured step: median ${formatFloat(median, 2)}; 90% of ${formatInt(points)} ` +
  `${points === 1 ? 'point' : 'points'} within a factor of ${formatFloat(p90, 2)}`

/** Slowest and fastest of several repeats. */
export const spreadText = (least: number, most: number): string =>
  `${formatRate(least)} to ${formatRate(most)}`

/** What predictions for GPUs are made of. */
export const predictedText = (group: Pick<Group, 'transport'> | null): string =>
  group === null
    ? 'predicted by the cost model'
    : `predicted by the cost model for GPUs with a rank each, exchange by ${group.transport === 'table' ? 'the timings given' : 'a model of NCCL'}`

/** A name as it can be copied into a shell. */
const shellWord = (text: string): string =>
  /^[\w.:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`

/** What goes on with a sweep, from the folder that its bundle lies in. */
export const goOnCommand = (name: string): string => `dcpscope sweep --out ${shellWord(`${name}.dcp`)}`
