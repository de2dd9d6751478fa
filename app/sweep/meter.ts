import { mean, median, quantile } from '../statistics/sample.ts'
import { OUTER_STAGES, PROVENANCES, type Provenance, STAGES, type Stage } from '../trace/stages.ts'
import type { ColumnData, TraceChunk } from '../trace/tables.ts'

/** Stages as a sweep tells them apart: sparse attention has metadata in every layer as well, which are not those of the step. */
export const METERED_STAGES = [...STAGES, 'layer_metadata'] as const
export type MeteredStage = (typeof METERED_STAGES)[number]

/** Spans of one stage of a run: medians over its spans, without waiting. */
export interface StageMeter {
  readonly us: number
  /** Bytes and floating-point operations of one span. */
  readonly bytes: number
  readonly flops: number
}

/** One run in numbers. */
export interface RunMeter {
  readonly steps: number
  readonly tokensPerSecond: number
  readonly provenance: Provenance
  /** A step of the whole model. */
  readonly stepMs: { readonly p50: number; readonly p95: number }
  /** A step of one rank, of the layers that were computed: medians over the steps of the means over the ranks. */
  readonly attnMs: number
  /** Transfer in collectives, and waiting for their last rank. */
  readonly commMs: number
  readonly waitMs: number
  readonly stages: Readonly<Partial<Record<MeteredStage, StageMeter>>>
}

interface Parts {
  attn: number
  comm: number
  wait: number
}

interface Samples {
  readonly ns: number[]
  readonly bytes: number[]
  readonly flops: number[]
}

const ATTENTION: readonly Stage[] = ['decode_attn', 'split_combine']

/** Takes the spans and steps of one run as they come, and keeps sums only where it can. */
export class Meter {
  readonly #ranks: number
  /** Of each step, for the whole model. */
  readonly #seconds: number[] = []
  #tokens = 0
  #provenance: Provenance = 'measured'
  /** By step, over all ranks, ns. */
  readonly #parts = new Map<number, Parts>()
  readonly #stages = new Map<MeteredStage, Samples>()

  constructor(ranks: number) {
    this.#ranks = ranks
  }

  /** Other tables than spans and steps are passed over. */
  add({ table, rows, columns }: TraceChunk): void {
    if (table === 'steps') for (let i = 0; i < rows; i++) this.#step(columns, i)
    if (table === 'spans') for (let i = 0; i < rows; i++) this.#span(columns, i)
  }

  #step(columns: TraceChunk['columns'], i: number): void {
    const tokens = at(columns.tokens, i)
    const rate = at(columns.tokens_per_s, i)
    if (rate > 0) {
      this.#tokens += tokens
      this.#seconds.push(tokens / rate)
    }
    this.#provenance = PROVENANCES[at(columns.provenance, i)] ?? this.#provenance
  }

  #span(columns: TraceChunk['columns'], i: number): void {
    const stage = STAGES[at(columns.stage, i)]
    if (stage === undefined || OUTER_STAGES.includes(stage)) return
    const enter = at(columns.enter_ns, i)
    // Also the merge of p2p, which reads from its peers.
    const isCollective = enter >= 0
    const wait = isCollective ? Math.max(0, at(columns.last_enter_ns, i) - enter) : 0
    const busy = Math.max(0, at(columns.dur_ns, i) - wait)
    const parts = this.#partsOf(at(columns.step, i))
    parts.wait += wait
    if (ATTENTION.includes(stage)) parts.attn += busy
    else if (isCollective) parts.comm += busy
    const ofLayer = Number(columns.layer?.[i] ?? -1) >= 0
    const samples = this.#samplesOf(stage === 'metadata' && ofLayer ? 'layer_metadata' : stage)
    samples.ns.push(busy)
    samples.bytes.push(at(columns.bytes, i))
    samples.flops.push(at(columns.flops, i))
  }

  #partsOf(step: number): Parts {
    const known = this.#parts.get(step)
    if (known !== undefined) return known
    const parts = { attn: 0, comm: 0, wait: 0 }
    this.#parts.set(step, parts)
    return parts
  }

  #samplesOf(stage: MeteredStage): Samples {
    const known = this.#stages.get(stage)
    if (known !== undefined) return known
    const samples = { ns: [], bytes: [], flops: [] }
    this.#stages.set(stage, samples)
    return samples
  }

  /** undefined for a run without a whole step. */
  result(): RunMeter | undefined {
    if (this.#seconds.length === 0) return undefined
    const parts = [...this.#parts.values()]
    const perRank = (part: keyof Parts): number =>
      parts.length === 0 ? 0 : median(parts.map((p) => p[part])) / this.#ranks / 1e6
    return {
      steps: this.#seconds.length,
      tokensPerSecond: this.#tokens / this.#seconds.reduce((sum, seconds) => sum + seconds, 0),
      provenance: this.#provenance,
      stepMs: { p50: median(this.#seconds) * 1e3, p95: quantile(this.#seconds, 0.95) * 1e3 },
      attnMs: perRank('attn'),
      commMs: perRank('comm'),
      waitMs: perRank('wait'),
      stages: Object.fromEntries(
        [...this.#stages].map(([stage, { ns, bytes, flops }]) => [
          stage,
          { us: median(ns) / 1e3, bytes: mean(bytes), flops: mean(flops) },
        ]),
      ),
    }
  }
}

const at = (column: ColumnData | undefined, i: number): number => Number(column?.[i] ?? 0)
