import type { Table } from '../../../app/messages/csv.ts'
import { arrangementName } from '../../../app/sweep/spots.ts'
import type { Manifest } from '../../../app/trace/manifest.ts'
import type { CellRow, Place } from './model.ts'
import { spotSource } from './source.ts'

/** Every arrangement of a cell, exact, with the source of every number that was not measured. */
export const cellTable = (rows: readonly CellRow[], manifest: Manifest): Table => ({
  header: [
    'arrangement',
    'source',
    'tokens_per_s',
    'repeats_tokens_per_s',
    'low_95_tokens_per_s',
    'high_95_tokens_per_s',
    'gain',
    'step_ms',
    'step_p95_ms',
    'attention_ms',
    'transfer_ms',
    'waiting_ms',
    'predicted_step_ms',
    'limit',
    'batch_requests',
    'capacity_tokens',
  ],
  rows: rows.map(({ spot, predicted, gain }) => [
    arrangementName(spot),
    spotSource(spot, manifest) ?? 'measured',
    spot.tokensPerSecond,
    spot.rows.map((row) => row.tokensPerSecond).join(' '),
    spot.interval?.[0] ?? null,
    spot.interval?.[1] ?? null,
    gain,
    spot.stepMs,
    spot.stepMsP95,
    spot.attnMs,
    spot.commMs,
    spot.waitMs,
    predicted?.stepMs ?? null,
    spot.limit,
    spot.batch,
    spot.capacityTokens,
  ]),
})

/** The map, a line for each context and concurrency. */
export const gainTable = (map: readonly (readonly Place[])[], source: string | undefined): Table => ({
  header: [
    'context_tokens',
    'concurrency_requests',
    'best_dcp',
    'gain_over_tp',
    'verdict',
    'best_tokens_per_s',
    'tp_tokens_per_s',
    'limit',
    'source',
    'published_gains',
    'note',
  ],
  rows: map
    .flat()
    .map(({ context, concurrency, cell, why, published }) => [
      context,
      concurrency,
      cell === null ? null : arrangementName(cell.best),
      cell?.gain ?? null,
      cell?.verdict ?? null,
      cell?.best.tokensPerSecond ?? null,
      cell?.tp.tokensPerSecond ?? null,
      cell?.best.limit ?? null,
      cell === null ? null : (source ?? 'measured'),
      published.map(({ value, source: from }) => `${value} (${from})`).join('; '),
      why,
    ]),
})
