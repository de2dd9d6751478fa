import type { DuckDBInstance } from '@duckdb/node-api'
import type { TableName } from '../../app/trace/tables.ts'
import { listParts, type Part } from './bundle-files.ts'
import { numberOf, plainRows, sqlText, textOf, withConnection } from './duck.ts'

interface Steps {
  readonly first: number
  readonly last: number
}

/**
 * Which parts of a bundle have rows of a step, by their footers. A long run has thousands of parts, and to open all of them
 * for the few rows of one step takes a hundred times as long as to read those. Parts never change, so each is looked at once.
 */
export class PartSteps {
  readonly #bundle: string
  readonly #duck: DuckDBInstance
  readonly #known = new Map<string, Steps>()
  #busy: Promise<void> = Promise.resolve()

  constructor(bundle: string, duck: DuckDBInstance) {
    this.#bundle = bundle
    this.#duck = duck
  }

  /** Parts of a table that may have rows of the steps from `first` to `last`, both in. */
  async between(table: TableName, first: number, last: number): Promise<Part[]> {
    const parts = listParts(this.#bundle, table)
    const next = this.#busy.then(() => this.#learn(parts))
    this.#busy = next.catch(() => {})
    await next
    return parts.filter(({ path }) => {
      const steps = this.#known.get(path)
      return steps === undefined || (steps.first <= last && steps.last >= first)
    })
  }

  async #learn(parts: readonly Part[]): Promise<void> {
    const fresh = parts.filter(({ path }) => !this.#known.has(path))
    if (fresh.length === 0) return
    const rows = await withConnection(this.#duck, (connection) =>
      plainRows(
        connection,
        `SELECT file_name, min(stats_min_value::BIGINT) AS first, max(stats_max_value::BIGINT) AS last
         FROM parquet_metadata([${fresh.map(({ path }) => sqlText(path)).join(', ')}])
         WHERE path_in_schema = 'step' GROUP BY file_name
         HAVING count(stats_min_value) = count(*) AND count(stats_max_value) = count(*)`,
      ),
    )
    // One without such statistics may have any step.
    const any = { first: Number.NEGATIVE_INFINITY, last: Number.POSITIVE_INFINITY }
    for (const { path } of fresh) this.#known.set(path, any)
    for (const row of rows)
      this.#known.set(textOf(row, 'file_name'), {
        first: numberOf(row, 'first'),
        last: numberOf(row, 'last'),
      })
  }
}
