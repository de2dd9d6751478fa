import type { Cell as TableCell } from '../../app/messages/csv.ts'
import type { MeasuringProgress, SweepProgress } from '../../app/protocol/sweep.ts'
import { weightBytesOf } from '../../app/sweep/capacity.ts'
import type { SweepManifest } from '../../app/sweep/manifest.ts'
import { PUBLISHED } from '../../app/sweep/published.ts'
import { arrangementName } from '../../app/sweep/spots.ts'
import type { Cell, Frontier, Group, Regime, SweepSummary } from '../../app/sweep/summary.ts'
import {
  bestText,
  durationText,
  LIMIT_WORDS,
  reasonLines,
  VERDICT_WORDS,
  winnersText,
} from '../../app/sweep/words.ts'
import type { SweepReport } from '../sweep/report.ts'
import { textTable } from './text-table.ts'

/** What `sweep --json` prints. */
export const sweepDocument = (report: SweepReport): object => {
  const { bundle, manifest, points, measured, leftOut, unpredicted, summary } = report
  return {
    bundle,
    status: manifest.status,
    device: manifest.sweep?.device,
    gpu: manifest.devices[0]?.name,
    emulated: manifest.emulated,
    memory: manifest.sweep === undefined ? undefined : memoryOf(manifest.sweep),
    points,
    measured,
    secondsLeft: report.secondsLeft,
    missing: manifest.sweep?.missing,
    leftOut,
    unpredicted,
    rates: manifest.sweep?.rates,
    ...summary,
    published: PUBLISHED,
  }
}

export const progressText = (progress: SweepProgress): string =>
  progress.phase === 'calibrating'
    ? `measuring the rates of the device ${progress.done + 1}/${progress.total}`
    : measuringText(progress)

const measuringText = (progress: MeasuringProgress): string =>
  [
    `point ${progress.done + 1}/${progress.total}`,
    `${progress.key} ${progress.repeat + 1}/${progress.repeats}`,
    ...(progress.tokensPerSecond === undefined ? [] : [`${rate(progress.tokensPerSecond)} before`]),
    `${durationText(progress.secondsLeft)} left`,
  ].join('  ')

type Fact = [name: string, value: string]

/** The summary of a sweep for a person. */
export const sweepText = (report: SweepReport): string => {
  const { bundle, manifest, points, measured, leftOut, unpredicted, summary } = report
  const { modelError } = summary
  const missing = manifest.sweep?.missing ?? []
  const open = measured < points
  const facts: Fact[] = [
    ['device', manifest.devices[0]?.name ?? 'unknown'],
    ...(manifest.emulated === undefined ? [] : [['emulated', manifest.emulated] satisfies Fact]),
    ...(manifest.sweep === undefined
      ? []
      : [['memory', memoryText(memoryOf(manifest.sweep))] satisfies Fact]),
    ['points', `${measured} of ${points} measured`],
    ...reasonsText(
      'not held',
      missing.filter(({ why }) => why === 'memory'),
    ),
    ...reasonsText(
      'failed',
      missing.filter(({ why }) => why === 'failed'),
    ),
    ...reasonsText('left out', leftOut),
    ['cost model', modelError === null ? 'nothing to compare' : errorText(modelError)],
    ...(unpredicted === 0
      ? []
      : [
          [
            'unpredicted',
            `${unpredicted} of ${points}: runs that tell the rates failed, which only a new sweep makes again`,
          ] satisfies Fact,
        ]),
    ...(open && report.end.kind !== 'complete'
      ? [
          [
            'go on',
            `${durationText(report.secondsLeft)} left: dcpscope sweep --out ${shellWord(bundle)}`,
          ] satisfies Fact,
        ]
      : []),
    ['bundle', bundle],
  ]
  const width = Math.max(...facts.map(([key]) => key.length))
  return [
    `${manifest.name} (${manifest.status})`,
    ...facts.map(([key, value]) => `  ${key.padEnd(width)}  ${value}`),
    ...summary.groups.flatMap((group) => ['', ...groupText(group, manifest.emulated !== undefined)]),
  ].join('\n')
}

/** A path as it can be copied into a shell. */
const shellWord = (path: string): string =>
  /^[\w./:\\-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`

interface Memory {
  /** Of one GPU. */
  readonly bytes: number
  readonly utilisation: number
  /** Of one rank; 0 where they are not known. */
  readonly weightBytes: number
}

/** What capacities are computed from. */
const memoryOf = ({ config, memoryBytes }: SweepManifest): Memory => ({
  bytes: config.memory.bytes ?? memoryBytes,
  utilisation: config.memory.utilisation,
  weightBytes: weightBytesOf(config.base, config.memory),
})

const memoryText = ({ bytes, utilisation, weightBytes }: Memory): string => {
  const weights =
    weightBytes === 0
      ? 'no weights counted, memory.weightBytes gives them'
      : `weights ${gib(weightBytes)} a rank`
  return `${gib(bytes)}, of which ${Math.round(100 * utilisation)}% is used; ${weights}`
}

const gib = (bytes: number): string =>
  bytes < 2 ** 30 ? `${(bytes / 2 ** 20).toFixed(1)} MiB` : `${(bytes / 2 ** 30).toFixed(1)} GiB`

const errorText = ({ points, median, p90 }: NonNullable<SweepSummary['modelError']>): string =>
  `predicted over measured step: median ${median.toFixed(2)}; 90% of ${points} points within a factor of ${p90.toFixed(2)}`

/** One fact a reason, with how many points it concerns. */
const reasonsText = (name: string, points: readonly { key: string; reason: string }[]): Fact[] =>
  reasonLines(points).map(({ text }) => [name, text])

const groupText = (group: Group, emulated: boolean): string[] => {
  const { model, gpu, world, kvDtype, qLen, cells } = group
  const source = group.predicted
    ? `predicted for GPUs with a rank each (exchange by ${group.transport === 'table' ? 'the table of timings' : 'a model of NCCL'})`
    : `${group.provenances.join(' and ')}${emulated ? ', the exchange emulated by copies on one GPU' : ''}`
  const title = `${model}, ${world} ranks of ${gpu}, ${kvDtype}, q_len ${qLen}: ${source}`
  if (cells.length === 0)
    return [title, '  nothing to compare: no context and concurrency has the tp baseline and a dcp point']
  return [
    title,
    indented(cellTable(cells)),
    '',
    ...group.byContext.map((frontier) => `  ${paysText('context', 'concurrency', frontier)}`),
    ...group.byConcurrency.map((frontier) => `  ${paysText('concurrency', 'context', frontier)}`),
    `  best: ${winnersText(group)}`,
    ...group.regimes.map((regime) => `  ${regimeText(regime)}`),
  ]
}

const indented = (text: string): string => text.replace(/^/gm, '  ')

const cellTable = (cells: readonly Cell[]): string =>
  textTable(
    ['context', 'concurrency', 'tp tok/s', 'dcp tok/s', 'best dcp', 'gain', '95% interval', '', 'limited by'],
    cells.map((cell): TableCell[] => [
      cell.context,
      cell.concurrency,
      `${rounded(cell.tp.tokensPerSecond)}${atCapacity(cell.tp)}`,
      `${rounded(cell.best.tokensPerSecond)}${atCapacity(cell.best)}`,
      bestText(cell),
      percent(cell.gain),
      cell.interval === null ? 'none' : cell.interval.map(percent).join(' to '),
      VERDICT_WORDS[cell.verdict],
      cell.best.limit,
    ]),
  )

/** Beside a rate of fewer requests than were asked for. */
const atCapacity = ({ capacityLimited, batch }: Cell['tp']): string =>
  capacityLimited ? ` (pool holds ${batch})` : ''

const paysText = (held: string, along: string, { at, from, pays, unclear }: Frontier): string => {
  const where = `${held} ${at}:`
  if (from !== null) return `${where} dcp pays from ${along} ${from}`
  if (pays.length > 0) return `${where} dcp pays at ${along} ${pays.join(', ')}, but not up to the largest`
  return `${where} dcp pays at no ${along} up to the largest${unclear ? ', as far as the spread allows an answer' : ''}`
}

const regimeText = (regime: Regime): string => {
  const range = ([least, most]: readonly [number, number]): string =>
    least === most ? `${least}` : `${least} to ${most}`
  const points = `${regime.points} ${regime.points === 1 ? 'point' : 'points'}`
  return (
    `${arrangementName(regime)}: limited by ${LIMIT_WORDS[regime.limit]} in ${points}, ` +
    `contexts ${range(regime.contexts)}, concurrency ${range(regime.concurrencies)}`
  )
}

/** Beyond that an interval of few repeats says nothing more. */
const LARGE_RATIO = 1000

const percent = (ratio: number): string => {
  if (ratio > LARGE_RATIO) return `over +${(LARGE_RATIO - 1) * 100}%`
  const value = (ratio - 1) * 100
  return `${value < 0 ? '' : '+'}${value.toFixed(Math.abs(value) < 10 ? 1 : 0)}%`
}

const rounded = (n: number): string => (n >= 100 ? Math.round(n).toLocaleString('en-US') : n.toPrecision(3))

const rate = (tokensPerSecond: number): string => `${rounded(tokensPerSecond)} tokens/s`
