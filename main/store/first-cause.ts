import type { DuckDBConnection } from '@duckdb/node-api'
import { type BadMerged, type BadPartial, firstCause } from '../../app/events/cause.ts'
import { BAD_ROW_KINDS, type BadRowKind } from '../../app/events/row-kinds.ts'
import type { StoreResult } from '../../app/protocol/store.ts'
import { numberOf, type PlainRow, plainRows, readColumns, sqlText, textOf } from './duck.ts'
import { batchRowOf, rowsWithKind, stepParts } from './event-queries.ts'
import { relation } from './sources.ts'

/** Whether the partial of a rank in a row went into the merge as something else than (out 0, lse -inf); null where nothing tells. */
export type WasMerged = (place: BadPartial) => Promise<boolean | null>

interface Ground {
  readonly connection: DuckDBConnection
  readonly bundle: string
  readonly qLen: number
  readonly buckets: number
  readonly wasMerged: WasMerged
}

const BAD = `kind IN (${BAD_ROW_KINDS.map(sqlText).join(', ')})`
const MERGED = `kind IN ('nan_in_merged', 'check_failed')`

/** Place of the worst kind of a group in BAD_ROW_KINDS. */
const WORST = `min(list_position([${BAD_ROW_KINDS.map(sqlText).join(', ')}], kind) - 1)::UTINYINT`

/** See `firstCause` in app/protocol/store.ts: the rows that decide are read, and app/events/cause.ts decides. */
export const causeOfRun = async (ground: Ground): Promise<StoreResult<'firstCause'>> => {
  const { connection, bundle } = ground
  // Of all rows these two; what is asked of one step reads only its part of the files.
  const steps = await overSteps(ground)
  const { firstStep, ...sums } = await badTotals(ground)
  const merged = await firstMerged(ground)
  const partials = await decisivePartials(ground, firstStep, merged)
  const cause = firstCause(partials, merged === undefined ? [] : [merged])
  const step = 'merged' in cause ? cause.merged.step : 'first' in cause ? cause.first.step : 0
  const layers = await readColumns(
    connection,
    `SELECT layer::INTEGER AS layer, rank::INTEGER AS rank, count(*)::INTEGER AS n, ${WORST} AS worst
     FROM ${rowsWithKind(bundle)} WHERE ${BAD} AND step = ${step} GROUP BY layer, rank ORDER BY layer, rank`,
  )
  const mergedLayers = await readColumns(
    connection,
    `SELECT DISTINCT layer::INTEGER AS layer FROM ${relation(bundle, 'events')} WHERE ${MERGED} AND step = ${step} ORDER BY layer`,
  )
  return {
    cause,
    layers: {
      step,
      layer: layers.i32('layer'),
      rank: layers.i32('rank'),
      rows: layers.i32('n'),
      kind: layers.u8('worst'),
      mergedLayers: mergedLayers.i32('layer'),
    },
    steps,
    totals: {
      ...sums,
      ranks: Int32Array.from([...new Set(steps.rank)].sort((a, b) => a - b)),
      ...(await mergedTotals(ground)),
    },
  }
}

/** The first bad merged row that an event names. */
const firstMerged = async ({ connection, bundle, qLen }: Ground): Promise<BadMerged | undefined> => {
  const [row] = await plainRows(
    connection,
    `SELECT * FROM ${relation(bundle, 'events')} WHERE ${MERGED} ORDER BY step, kind = 'check_failed', layer LIMIT 1`,
  )
  if (row === undefined) return undefined
  const detail = textOf(row, 'detail')
  return {
    step: numberOf(row, 'step'),
    layer: numberOf(row, 'layer'),
    request: numberOf(row, 'request'),
    qIndex: (batchRowOf(detail) ?? 0) % qLen,
    kind: textOf(row, 'kind') === 'nan_in_merged' ? 'nan_in_merged' : 'check_failed',
    rank: numberOf(row, 'rank'),
    value: detailValue(detail),
  }
}

/** Numbers that JSON lacks are text there. */
const detailValue = (detail: string): number => {
  const parsed: unknown = JSON.parse(detail)
  return typeof parsed === 'object' && parsed !== null && 'value' in parsed
    ? Number(parsed.value)
    : Number.NaN
}

/** The first bad partial, and those of the bad merged row. */
const decisivePartials = async (
  ground: Ground,
  firstStep: number | null,
  merged: BadMerged | undefined,
): Promise<BadPartial[]> => {
  const { connection, bundle, wasMerged } = ground
  const select = `SELECT * FROM ${rowsWithKind(bundle)} WHERE ${BAD}`
  const first =
    firstStep === null
      ? []
      : await plainRows(
          connection,
          `${select} AND step = ${firstStep} ORDER BY layer, rank, request, q_index LIMIT 1`,
        )
  const ofRow =
    merged === undefined
      ? []
      : await plainRows(
          connection,
          `${select} AND step = ${merged.step} AND layer = ${merged.layer}
             AND request = ${merged.request} AND q_index = ${merged.qIndex}`,
        )
  const partials = ofRow.map(partialOf)
  const known = await Promise.all(
    partials.map(async (partial) => ({ ...partial, merged: await wasMerged(partial) })),
  )
  return [...known, ...first.map(partialOf).filter((one) => !known.some((other) => isSame(one, other)))]
}

const isSame = (a: BadPartial, b: BadPartial): boolean =>
  a.step === b.step &&
  a.layer === b.layer &&
  a.rank === b.rank &&
  a.request === b.request &&
  a.qIndex === b.qIndex

const badKind = (kind: string): BadRowKind => {
  const known = BAD_ROW_KINDS.find((name) => name === kind)
  if (known === undefined) throw new Error(`${kind} is no kind of a bad row`)
  return known
}

const partialOf = (row: PlainRow): BadPartial => ({
  step: numberOf(row, 'step'),
  layer: numberOf(row, 'layer'),
  rank: numberOf(row, 'rank'),
  request: numberOf(row, 'request'),
  qIndex: numberOf(row, 'q_index'),
  kind: badKind(textOf(row, 'kind')),
  odd: numberOf(row, 'out_nan') + numberOf(row, 'out_inf') + numberOf(row, 'lse_nan'),
  merged: null,
})

const overSteps = async ({
  connection,
  bundle,
  buckets,
}: Ground): Promise<StoreResult<'firstCause'>['steps']> => {
  const { steps, perBucket, parts } = await stepParts(connection, bundle, buckets)
  const cells = await readColumns(
    connection,
    `SELECT (step // ${perBucket})::INTEGER AS bucket, rank::INTEGER AS rank, count(*)::INTEGER AS n, ${WORST} AS worst
     FROM ${rowsWithKind(bundle)} WHERE ${BAD} AND step < ${parts * perBucket} GROUP BY ALL ORDER BY bucket, rank`,
  )
  const merged = await readColumns(
    connection,
    `SELECT (step // ${perBucket})::INTEGER AS bucket,
       (count(DISTINCT step) FILTER (kind = 'nan_in_merged'))::INTEGER AS nan,
       (count(DISTINCT step) FILTER (kind = 'check_failed'))::INTEGER AS off
     FROM ${relation(bundle, 'events')} WHERE ${MERGED} GROUP BY bucket`,
  )
  const places = merged.i32('bucket')
  const spread = (counts: Int32Array): Int32Array<ArrayBuffer> => {
    const all = new Int32Array(parts)
    places.forEach((place, i) => {
      all[place] = counts[i] ?? 0
    })
    return all
  }
  return {
    steps,
    perBucket,
    bucket: cells.i32('bucket'),
    rank: cells.i32('rank'),
    rows: cells.i32('n'),
    kind: cells.u8('worst'),
    nanMerged: spread(merged.i32('nan')),
    offReference: spread(merged.i32('off')),
  }
}

type Totals = StoreResult<'firstCause'>['totals']

/** What there is of bad rows of partials, and the first step with one. */
const badTotals = async ({
  connection,
  bundle,
}: Ground): Promise<
  Pick<Totals, 'rows' | 'steps' | 'layers' | 'requests'> & { readonly firstStep: number | null }
> => {
  const [row] = await plainRows(
    connection,
    `SELECT count(*) AS n, count(DISTINCT step) AS steps, count(DISTINCT layer) AS layers,
       count(DISTINCT request) AS requests, min(step) AS first FROM ${rowsWithKind(bundle)} WHERE ${BAD}`,
  )
  const rows = numberOf(row, 'n')
  return {
    rows,
    steps: numberOf(row, 'steps'),
    layers: numberOf(row, 'layers'),
    requests: numberOf(row, 'requests'),
    firstStep: rows === 0 ? null : numberOf(row, 'first'),
  }
}

const mergedTotals = async ({
  connection,
  bundle,
}: Ground): Promise<Pick<Totals, 'nanSteps' | 'offSteps'>> => {
  const [row] = await plainRows(
    connection,
    `SELECT count(DISTINCT step) FILTER (kind = 'nan_in_merged') AS nan,
       count(DISTINCT step) FILTER (kind = 'check_failed') AS off FROM ${relation(bundle, 'events')}`,
  )
  return { nanSteps: numberOf(row, 'nan'), offSteps: numberOf(row, 'off') }
}
