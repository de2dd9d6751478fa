import type { Table } from '../../../app/messages/csv.ts'
import type { Course } from '../../../app/sweep/crossings.ts'
import type { FrontPoint } from '../../../app/sweep/front.ts'
import type { Pool } from '../../../app/sweep/pool.ts'
import type { Roof, RoofPoint } from '../../../app/sweep/roofline.ts'
import { PARTS, type Shares } from '../../../app/sweep/shares.ts'
import { type Axis, arrangementName, otherAxis, type Spot } from '../../../app/sweep/spots.ts'
import type { Caveats } from '../../../app/trace/caveat.ts'
import { spotSource } from './source.ts'

/** The pictures of a sweep as tables, exact: what is copied and saved. */

const PLACE = ['arrangement', 'context_tokens', 'concurrency_requests', 'source'] as const

const place = (spot: Spot, manifest: Caveats): (string | number)[] => [
  arrangementName(spot),
  spot.context,
  spot.concurrency,
  spotSource(spot, manifest) ?? 'measured',
]

export const ratesTable = (spots: readonly Spot[], manifest: Caveats): Table => ({
  header: [
    ...PLACE,
    'tokens_per_s',
    'low_95_tokens_per_s',
    'high_95_tokens_per_s',
    'slowest_tokens_per_s',
    'fastest_tokens_per_s',
    'batch_requests',
  ],
  rows: spots.map((spot) => [
    ...place(spot, manifest),
    spot.tokensPerSecond,
    spot.interval?.[0] ?? null,
    spot.interval?.[1] ?? null,
    spot.least,
    spot.most,
    spot.batch,
  ]),
})

export const frontTable = (points: readonly FrontPoint[], manifest: Caveats): Table => ({
  header: [
    ...PLACE,
    'batch_requests',
    'ms_per_token',
    'tokens_per_s_per_gpu',
    'tokens_per_s',
    'on_front',
    'beaten_by',
  ],
  rows: points.map(({ spot, msPerToken, perGpu, beatenBy }) => [
    ...place(spot, manifest),
    spot.batch,
    msPerToken,
    perGpu,
    spot.tokensPerSecond,
    beatenBy === null,
    beatenBy?.key ?? null,
  ]),
})

export const stagesTable = (
  bars: readonly { readonly spot: Spot; readonly shares: Shares }[],
  manifest: Caveats,
): Table => ({
  header: [
    ...PLACE,
    'step_ms',
    ...PARTS.map((part) => `${part}_ms`),
    ...PARTS.map((part) => `${part}_share`),
  ],
  rows: bars.map(({ spot, shares }) => [
    ...place(spot, manifest),
    spot.stepMs,
    ...PARTS.map((part) => shares.ms[part]),
    ...PARTS.map((part) => shares.share[part]),
  ]),
})

export const rooflineTable = (points: readonly RoofPoint[], roof: Roof, manifest: Caveats): Table => ({
  header: [
    ...PLACE,
    'bytes',
    'operations',
    'operations_per_byte',
    'operations_per_s',
    'bytes_per_s',
    'ms',
    'ms_at_roof',
    'under',
    'roof_bytes_per_s',
    'roof_operations_per_s',
  ],
  rows: points.map((point) => [
    ...place(point.spot, manifest),
    point.bytes,
    point.flops,
    point.intensity,
    point.flopsPerS,
    point.bytesPerS,
    point.ms,
    point.leastMs,
    point.under,
    roof.bytesPerS,
    roof.flopsPerS,
  ]),
})

export const capacityTable = (pools: readonly Pool[]): Table => ({
  header: ['arrangement', 'kv_capacity_tokens', 'context_tokens', 'requests_at_once'],
  rows: pools.flatMap(({ name, tokens, held }) =>
    held.map(({ context, requests }) => [name, tokens, context, requests]),
  ),
})

/** A line for each crossing, and one for each arrangement without any. */
export const crossingsTable = (courses: readonly Course[], axis: Axis, held: number): Table => ({
  header: [
    'arrangement',
    otherAxis(axis),
    `${axis}_at`,
    `${axis}_above`,
    `${axis}_below`,
    'tokens_per_s',
    'faster_from_there_on',
    'significant',
    'faster_at_first',
  ],
  rows: courses.flatMap(({ name, crossings, begins }) =>
    crossings.length === 0
      ? [[name, held, null, null, null, null, null, null, begins ?? null]]
      : crossings.map(({ at, rate, between, into, clear }) => [
          name,
          held,
          at,
          ...between,
          rate,
          into,
          clear,
          begins ?? null,
        ]),
  ),
})
