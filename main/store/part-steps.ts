import type { DuckDBInstance } from '@duckdb/node-api'
import type { TableName } from '../../app/trace/tables.ts'
import { listParts, type Part } from './bundle-files.ts'
import { numberOf, plainRows, sqlText, textOf, withConnection } from './duck.ts'
import type { StepRange } from './step-blocks.ts'

/** Of a part without statistics. */
const ANY: StepRange = { first: Number.NEGATIVE_INFINITY, last: Number.POSITIVE_INFINITY }

/**
 * Which parts of a bundle have rows of a step, by their footers. A long run has thousands of parts, and to open all of them
 * for the few rows of one step takes a hundred times as long as to read those. Parts never change, so each is looked at once.
 */
export class PartSteps {
  readonly #bundle: string
  readonly #duck: DuckDBInstance
  readonly #known = new Map<string, StepRange>()
  #busy: Promise<void> = Promise.resolve()

  constructor(bundle: string, duck: DuckDBInstance) {
    this.#bundle = bundle
    this.#duck = duck
  }

  /** Parts of a table that may have rows of the steps from `first` to `last`, both in. */
  async between(table: TableName, first: number, last: number): Promise<Part[]> {
    const all = await this.#listed(table)
    return all.filter(({ steps }) => steps.first <= last && steps.last >= first).map(({ part }) => part)
  }

  /** Parts of a table that may have rows of a step, and the steps about it whose rows lie in just the same parts. */
  async holding(
    table: TableName,
    step: number,
  ): Promise<{ readonly parts: readonly Part[]; readonly steps: StepRange }> {
    const parts: Part[] = []
    let [first, last] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]
    for (const { part, steps } of await this.#listed(table)) {
      if (steps.last < step) first = Math.max(first, steps.last + 1)
      else if (steps.first > step) last = Math.min(last, steps.first - 1)
      else {
        parts.push(part)
        first = Math.max(first, steps.first)
        last = Math.min(last, steps.last)
      }
    }
    return { parts, steps: { first, last } }
  }

  async #listed(table: TableName): Promise<{ readonly part: Part; readonly steps: StepRange }[]> {
    const parts = listParts(this.#bundle, table)
    const next = this.#busy.then(() => this.#learn(parts))
    this.#busy = next.catch(() => {})
    await next
    return parts.map((part) => ({ part, steps: this.#known.get(part.path) ?? ANY }))
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
    for (const { path } of fresh) this.#known.set(path, ANY)
    for (const row of rows)
      this.#known.set(textOf(row, 'file_name'), {
        first: numberOf(row, 'first'),
        last: numberOf(row, 'last'),
      })
  }
}
