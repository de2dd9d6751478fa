import type { Course } from '../../../app/sweep/crossings.ts'
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

/** Two digits: a place that is read off a line is known no better. */
const roughly = (value: number): string => String(Number(value.toPrecision(2)))

/** A place between those of an axis: `about 9.3K`, `about 12`. */
export const placeText = (axis: Axis, value: number): string => {
  if (axis === 'concurrency' || value < K) return `about ${roughly(value)}`
  return value < K * K ? `about ${roughly(value / K)}K` : `about ${roughly(value / K / K)}M`
}

/** What is true of an arrangement that never passes the baseline. */
export const courseText = ({ begins, from, to }: Course, axis: Axis): string => {
  const range =
    from === to ? `at ${axisText(axis, from)}` : `from ${axisText(axis, from)} to ${axisText(axis, to)}`
  if (begins === undefined) return `as fast as tp ${range}`
  return begins === 'dcp' ? `faster than tp ${range}` : `slower than tp ${range}`
}

const STEPS = ['', 'k', 'M', 'G', 'T', 'P', 'E'] as const

/** Three digits and a decimal prefix. */
const prefixed = (value: number, unit: string): string => {
  const step = Math.min(STEPS.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, value)) / 3)))
  return `${formatRate(value / 1000 ** step)} ${STEPS[step]}${unit}`
}

/** Floating-point operations, a second where nothing else is said: `600 TFLOP/s`. */
export const flopsText = (value: number, per = '/s'): string => prefixed(value, `FLOP${per}`)

/** As `flopsText`, for the ticks of an axis that names the unit. */
export const flopsTick = (value: number): string => prefixed(value, '').trim()

/** A bandwidth as those of memories are given, in powers of ten: `4.20 TB/s`. */
export const perSecondText = (bytes: number): string => prefixed(bytes, 'B/s')

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
