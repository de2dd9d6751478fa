import { localLength } from '../dcp/ownership.ts'
import { tableWidth } from '../dcp/pages.ts'
import type { Paging } from '../dcp/types.ts'
import type { RunConfig } from '../run/config.ts'
import { contextLens, engineConfig, lengthAtStep, restarts } from '../run/engine-config.ts'
import type { NewTokens, RankTable } from './rank-table.ts'

/** Cells of one rank up to a step, as the table `pages` of a bundle has them last; sorted by request, then column. */
export interface RecordedCells {
  readonly request: Int32Array
  readonly column: Int32Array
  readonly page: Int32Array
  /** Keys of the rank in the page. */
  readonly valid: Int32Array
  /** First step at which the cell was recorded. */
  readonly taken: Int32Array
}

export const pagingOfRun = ({ parallel, cache }: RunConfig): Paging => ({
  dcp: parallel.dcpSize,
  interleave: parallel.interleave,
  page: cache.pageSize,
})

/** The contexts of requests, where tokens behind them are dealt out anew. */
const promptsOfRun = (config: RunConfig): readonly number[] | null =>
  restarts(config) ? contextLens(config) : null

/** Pages of one rank's pool: those of the configuration, else as many as the run has at its end. */
export const poolPagesOfRun = (config: RunConfig): number => {
  const { poolTokens, padRequests, padLength } = engineConfig(config)
  const paging = pagingOfRun(config)
  if (poolTokens > 0) return Math.floor(poolTokens / paging.page)
  const lastStep = config.workload.steps - 1
  const prompts = promptsOfRun(config)
  const pages = contextLens(config).map((_, request) =>
    tableWidth(lengthAtStep(config, request, lastStep), { ...paging, prompt: prompts?.[request] }),
  )
  return pages.reduce((sum, own) => sum + own, 0) + padRequests * tableWidth(padLength, paging)
}

/** New tokens of a step, request by request. */
const newTokensOfRun = (config: RunConfig, step: number): NewTokens => {
  const { qLen } = config.workload
  const rows = contextLens(config).length * qLen
  const request = Int32Array.from({ length: rows }, (_, row) => Math.floor(row / qLen))
  const token = Float64Array.from(request, (of, row) => lengthAtStep(config, of, step) - qLen + (row % qLen))
  return { request, token }
}

/** The block table of a rank at `step` as the run recorded it. */
export const tableOfRun = (
  config: RunConfig,
  rank: number,
  step: number,
  cells: RecordedCells,
): RankTable => {
  const paging = pagingOfRun(config)
  const batch = contextLens(config).length
  const requests = Math.max(batch, (cells.request.at(-1) ?? -1) + 1)
  const begin = beginsOf(cells, requests)
  const total = begin[requests] ?? 0
  const ids = new Float64Array(total).fill(-1)
  const taken = new Int32Array(total).fill(-1)
  const localLens = new Float64Array(requests)
  cells.request.forEach((request, i) => {
    const cell = (begin[request] ?? 0) + (cells.column[i] ?? 0)
    ids[cell] = cells.page[i] ?? -1
    taken[cell] = cells.taken[i] ?? -1
    localLens[request] = (localLens[request] ?? 0) + (cells.valid[i] ?? 0)
  })
  const globalLens = Float64Array.from({ length: batch }, (_, request) => lengthAtStep(config, request, step))
  return {
    rank,
    sharding: { dcp: paging.dcp, interleave: paging.interleave },
    prompts: promptsOfRun(config),
    page: paging.page,
    requests,
    batch,
    begin,
    ids,
    width: null,
    globalLens,
    // A step of which nothing is recorded yet says nothing of lengths.
    localLens: total === 0 && localLength(Math.max(0, ...globalLens), rank, paging) > 0 ? null : localLens,
    maxLen: null,
    poolPages: poolPagesOfRun(config),
    taken,
    slots: null,
    newTokens: newTokensOfRun(config, step),
  }
}

/** Where the row of each request begins: it is as long as its last recorded column says. */
const beginsOf = ({ request, column }: RecordedCells, requests: number): Int32Array => {
  const widths = new Int32Array(requests)
  request.forEach((of, i) => {
    widths[of] = Math.max(widths[of] ?? 0, (column[i] ?? 0) + 1)
  })
  const begin = new Int32Array(requests + 1)
  widths.forEach((own, i) => {
    begin[i + 1] = (begin[i] ?? 0) + own
  })
  return begin
}
