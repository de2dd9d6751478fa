import type { Progress } from '../../app/protocol/store.ts'
import type { Manifest } from '../../app/trace/manifest.ts'
import { PROVENANCES, type Provenance } from '../../app/trace/stages.ts'
import type { ColumnData, TraceChunk } from '../../app/trace/tables.ts'

/** Steps over which the tokens per second are averaged. */
const RECENT = 16

/** Live numbers of a run, taken from its chunks as they arrive. */
export class LiveProgress {
  readonly #id: string
  readonly #totalSteps: number
  readonly #recent: { tokens: number; seconds: number }[] = []
  #steps = 0
  /** Whether a step ran whose kernels were not recorded. */
  #plain = false
  #lastStepMs = 0
  #provenance: Provenance | null = null
  #maxRelErr: number | null = null
  #checkedRows = 0
  #endNs = 0
  #events = 0

  constructor(id: string, manifest: Manifest) {
    this.#id = id
    this.#totalSteps = manifest.config.workload.steps
  }

  add({ table, rows, columns }: TraceChunk): void {
    if (table === 'steps') for (let i = 0; i < rows; i++) this.#step(columns, i)
    else if (table === 'events') this.#events += rows
    else if (table === 'spans' && rows > 0)
      this.#endNs = Math.max(this.#endNs, at(columns.start_ns, rows - 1) + at(columns.dur_ns, rows - 1))
  }

  #step(columns: TraceChunk['columns'], i: number): void {
    const wall = at(columns.wall_ns, i)
    const rate = at(columns.tokens_per_s, i)
    const error = at(columns.max_rel_err, i)
    const tokens = at(columns.tokens, i)
    this.#steps++
    // A step whose kernels are recorded is slower: it stands for the run only until there is another.
    const stands = at(columns.kernel_trace, i) === 0
    if (stands && !this.#plain) this.#recent.length = 0
    if (stands || !this.#plain) {
      this.#lastStepMs = wall / 1e6
      this.#provenance = PROVENANCES[at(columns.provenance, i)] ?? null
      if (rate > 0) this.#recent.push({ tokens, seconds: tokens / rate })
      if (this.#recent.length > RECENT) this.#recent.shift()
    }
    this.#plain ||= stands
    if (!Number.isNaN(error)) this.#maxRelErr = Math.max(this.#maxRelErr ?? 0, jsonNumber(error))
    this.#checkedRows += at(columns.checked_rows, i)
    this.#endNs = Math.max(this.#endNs, at(columns.start_ns, i) + wall)
  }

  get endNs(): number {
    return this.#endNs
  }

  now({ status, error, summary }: Manifest): Progress {
    const sum = this.#recent.reduce(
      (all, one) => ({ tokens: all.tokens + one.tokens, seconds: all.seconds + one.seconds }),
      { tokens: 0, seconds: 0 },
    )
    return {
      id: this.#id,
      status,
      ...(error === undefined ? {} : { error }),
      steps: this.#steps,
      totalSteps: this.#totalSteps,
      tokensPerSecond: sum.seconds > 0 ? sum.tokens / sum.seconds : 0,
      lastStepMs: this.#lastStepMs,
      provenance: this.#provenance,
      maxRelErr: this.#maxRelErr,
      checkedRows: this.#checkedRows,
      endNs: this.#endNs,
      events: this.#events,
      dropped: summary?.dropped ?? 0,
    }
  }
}

const at = (data: ColumnData | undefined, i: number): number => Number(data?.[i] ?? 0)

/** JSON and the schemas know no infinity; a boundless error stays the largest number. */
export const jsonNumber = (value: number): number =>
  Math.min(Math.max(value, -Number.MAX_VALUE), Number.MAX_VALUE)
