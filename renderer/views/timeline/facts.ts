import type { StoreResult } from '../../../app/protocol/store.ts'
import type { SpanStat } from '../../../app/trace/span-stats.ts'
import { OUTER_STAGES, STAGES } from '../../../app/trace/stages.ts'
import { formatBytes, formatInt, formatNs, formatPercent, formatRate } from '../../drawing/format.ts'
import { sourceNote } from '../../drawing/provenance.ts'
import { shortKernelName } from './kernel-name.ts'
import type { HoveredItem } from './scene.ts'

export type Span = NonNullable<StoreResult<'spanAt'>>
export type Kernel = NonNullable<StoreResult<'kernelAt'>>

export interface SpanFact {
  readonly label: string
  readonly value: string
  /** What copying gives: the exact number. */
  readonly copy: string
  readonly note?: string
  /** Where the number comes from, if it was not measured. */
  readonly source?: string
}

export const spanFact = (label: string, value: string, copy: string | number, note?: string): SpanFact => ({
  label,
  value,
  copy: String(copy),
  ...(note === undefined ? {} : { note }),
})

/** The same facts about numbers that come from `sources`. */
const from = (sources: readonly string[], facts: readonly SpanFact[]): SpanFact[] => {
  const source = sourceNote(sources)
  return facts.map((known) => (source === undefined ? known : { ...known, source }))
}

const layerText = (layer: number): string => (layer < 0 ? 'whole step' : String(layer))

/**
 * What an item of a tile says by itself; `count` > 1 items say that they are merged. `placed` says where the starts of
 * the run's spans come from, if they were not measured.
 */
export const itemFacts = (item: HoveredItem, placed?: string): SpanFact[] => [
  ...(item.kernel === undefined || item.count > 1
    ? []
    : [spanFact('kernel', shortKernelName(item.kernel), item.kernel)]),
  spanFact('stage', item.count > 1 ? `mostly ${item.stage}` : item.stage, item.stage),
  spanFact('rank', String(item.rank), item.rank),
  spanFact(item.count > 1 ? 'from step' : 'step', String(item.step), item.step),
  ...(item.count > 1 ? [] : [spanFact('layer', layerText(item.layer), item.layer)]),
  ...(item.count > 1
    ? [
        spanFact(
          'merged',
          `${formatInt(item.count)} ${item.kernel === undefined ? 'spans' : 'kernels'}`,
          item.count,
        ),
      ]
    : []),
  ...from([placed ?? 'measured'], [spanFact('start', `${formatInt(item.startNs)}\u2009ns`, item.startNs)]),
  ...from(item.sources, [
    spanFact('duration', formatNs(item.durNs), item.durNs, `${formatInt(item.durNs)} ns`),
    ...(item.count > 1 ? [spanFact('covered', formatNs(item.busyNs), item.busyNs)] : []),
    ...(item.waitNs > 0 ? [spanFact('waiting', formatNs(item.waitNs), item.waitNs)] : []),
  ]),
]

/** Every number of one recorded kernel; `placed` as for an item. */
export const kernelFacts = (rank: number, kernel: Kernel, placed?: string): SpanFact[] => {
  const three = (label: string, sizes: readonly number[] | null, note: string): SpanFact[] =>
    sizes === null ? [] : [spanFact(label, sizes.join(' × '), sizes.join(', '), note)]
  return [
    spanFact('kernel', shortKernelName(kernel.name), kernel.name),
    ...(shortKernelName(kernel.name) === kernel.name
      ? []
      : [spanFact('full name', kernel.name, kernel.name)]),
    spanFact('stage', STAGES[kernel.stage] ?? `code ${kernel.stage}`, STAGES[kernel.stage] ?? kernel.stage),
    spanFact('rank', String(rank), rank),
    spanFact('step', String(kernel.step), kernel.step),
    spanFact('layer', layerText(kernel.layer), kernel.layer),
    ...from(
      [placed ?? 'measured'],
      [spanFact('start', `${formatInt(kernel.startNs)}\u2009ns`, kernel.startNs)],
    ),
    ...from([kernel.provenance], [spanFact('duration', formatNs(kernel.durNs), kernel.durNs, 'by CUPTI')]),
    ...(kernel.bytes === null ? [] : [spanFact('bytes', formatBytes(kernel.bytes), kernel.bytes)]),
    ...three('grid', kernel.grid, 'blocks'),
    ...three('block', kernel.block, 'threads'),
    ...(kernel.registers === null
      ? []
      : [spanFact('registers', String(kernel.registers), kernel.registers, 'a thread')]),
    ...(kernel.sharedBytes === null
      ? []
      : [spanFact('shared memory', formatBytes(kernel.sharedBytes), kernel.sharedBytes, 'a block')]),
    spanFact('stream', String(kernel.stream), kernel.stream),
    ...(kernel.graph ? [spanFact('graph', 'replayed', 'replayed')] : []),
  ]
}

/** Waiting for the last rank to enter a collective, and what is left for the transfer; null outside collectives. */
export const waitOf = (span: Span): { waitNs: number; transferNs: number } | null => {
  const { enterNs, lastEnterNs } = span
  if (enterNs === null || lastEnterNs === null) return null
  const waitNs = Math.max(0, lastEnterNs - enterNs)
  return { waitNs, transferNs: Math.max(0, span.startNs + span.durNs - lastEnterNs) }
}

/** Every number of one span, exact values for copying; `placed` as for an item. */
export const spanFacts = (rank: number, span: Span, placed?: string): SpanFact[] => {
  const seconds = span.durNs / 1e9
  const waited = waitOf(span)
  const moving = waited === null ? seconds : waited.transferNs / 1e9
  return [
    spanFact('stage', STAGES[span.stage] ?? `code ${span.stage}`, STAGES[span.stage] ?? span.stage),
    spanFact('rank', String(rank), rank),
    spanFact('step', String(span.step), span.step),
    spanFact('layer', layerText(span.layer), span.layer),
    ...from([placed ?? 'measured'], [spanFact('start', `${formatInt(span.startNs)}\u2009ns`, span.startNs)]),
    ...from([span.provenance], timeFacts(span)),
    ...(span.bytes === 0 ? [] : [spanFact('bytes', formatBytes(span.bytes), span.bytes)]),
    ...(span.flops === 0 ? [] : [spanFact('operations', formatInt(span.flops), span.flops, 'flop')]),
    ...from(
      [span.provenance],
      [
        ...(moving > 0 ? rateFact('bandwidth', span.bytes / moving / 1e9, 'GB/s') : []),
        ...(seconds > 0 ? rateFact('rate', span.flops / seconds / 1e9, 'GFLOP/s') : []),
      ],
    ),
    ...(span.collectiveSeq === null
      ? []
      : [spanFact('collective', `#${span.collectiveSeq}`, span.collectiveSeq)]),
  ]
}

const timeFacts = (span: Span): SpanFact[] => {
  const waited = waitOf(span)
  const duration = spanFact('duration', formatNs(span.durNs), span.durNs)
  if (waited === null) return [duration]
  return [
    duration,
    spanFact('waiting', formatNs(waited.waitNs), waited.waitNs),
    spanFact('transfer', formatNs(waited.transferNs), waited.transferNs),
  ]
}

/** Nothing where there was nothing to move or compute. */
const rateFact = (label: string, value: number, unit: string): SpanFact[] =>
  value === 0 ? [] : [spanFact(label, `${formatRate(value)}\u2009${unit}`, value)]

/** Totals of an area of `durNs` on so many ranks, by stage; `placed` as for an item. */
export const areaFacts = (
  rows: readonly SpanStat[],
  durNs: number,
  ranks: number,
  placed?: string,
): SpanFact[] => {
  const own = rows.filter(({ key }) => !OUTER_STAGES.some((outer) => outer === key))
  const total = own.reduce((sum, row) => sum + row.sumNs, 0)
  const waiting = rows.reduce((sum, row) => sum + row.waitNs, 0)
  /** Share of the ranks' time in the area. */
  const ofRanks = (ns: number): string => formatPercent(ns / Math.max(1, durNs * ranks))
  return [
    ...from([placed ?? 'measured'], [spanFact('time', formatNs(durNs), durNs)]),
    spanFact('ranks', String(ranks), ranks),
    ...from(
      own.flatMap(({ sources }) => sources),
      [spanFact('in spans', formatNs(total), total, ofRanks(total))],
    ),
    ...from(
      rows.filter(({ waitNs }) => waitNs > 0).flatMap(({ sources }) => sources),
      waiting > 0 ? [spanFact('waiting', formatNs(waiting), waiting, ofRanks(waiting))] : [],
    ),
    ...rows.flatMap(({ key, sumNs, waitNs, count, sources }) =>
      from(sources, [
        spanFact(String(key), formatNs(sumNs), sumNs, `in ${formatInt(count)}`),
        ...(waitNs > 0 ? [spanFact('of it waiting', formatNs(waitNs), waitNs)] : []),
      ]),
    ),
  ]
}
