/** Spans of one rank as struct of arrays; times in ns. */
export interface SpanBatch {
  readonly start: Float64Array
  readonly dur: Float64Array
  /** Waiting for the last rank at the beginning of a collective; 0 elsewhere. */
  readonly wait: Float64Array
  readonly stage: Uint8Array
  readonly step: Int32Array
  readonly layer: Int32Array
  /** Bit n: the provenance is PROVENANCES[n]. */
  readonly source: Uint8Array
}

/** Whether the spans are in the order of their starts. */
export const isSorted = (start: Float64Array): boolean => {
  for (let i = 1; i < start.length; i++) if ((start[i] ?? 0) < (start[i - 1] ?? 0)) return false
  return true
}

export const concatenated = (a: SpanBatch, b: SpanBatch): SpanBatch => {
  const total = a.start.length + b.start.length
  const join = <T extends { set(other: T, offset?: number): void }>(out: T, head: T, tail: T): T => {
    out.set(head)
    out.set(tail, a.start.length)
    return out
  }
  return {
    start: join(new Float64Array(total), a.start, b.start),
    dur: join(new Float64Array(total), a.dur, b.dur),
    wait: join(new Float64Array(total), a.wait, b.wait),
    stage: join(new Uint8Array(total), a.stage, b.stage),
    step: join(new Int32Array(total), a.step, b.step),
    layer: join(new Int32Array(total), a.layer, b.layer),
    source: join(new Uint8Array(total), a.source, b.source),
  }
}
