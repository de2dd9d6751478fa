import { OUTER_STAGES, STAGES } from '../../app/trace/stages.ts'

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

const IS_OUTER: readonly boolean[] = STAGES.map((stage) => OUTER_STAGES.includes(stage))

/** The spans of stages that contain others apart from the rest, each in their order. */
export const partedBatch = (batch: SpanBatch): { readonly inner: SpanBatch; readonly outer: SpanBatch } => {
  // Most runs have none, and open faster without copies.
  if (!batch.stage.some((code) => IS_OUTER[code] === true)) return { inner: batch, outer: chosen(batch, []) }
  const isOuter = (i: number): boolean => IS_OUTER[batch.stage[i] ?? 0] === true
  const all = [...batch.stage.keys()]
  const outer = all.filter(isOuter)
  return {
    inner: chosen(
      batch,
      all.filter((i) => !isOuter(i)),
    ),
    outer: chosen(batch, outer),
  }
}

const chosen = (batch: SpanBatch, places: readonly number[]): SpanBatch => {
  const f64 = (from: Float64Array): Float64Array => Float64Array.from(places, (i) => from[i] ?? 0)
  const i32 = (from: Int32Array): Int32Array => Int32Array.from(places, (i) => from[i] ?? 0)
  const u8 = (from: Uint8Array): Uint8Array => Uint8Array.from(places, (i) => from[i] ?? 0)
  return {
    start: f64(batch.start),
    dur: f64(batch.dur),
    wait: f64(batch.wait),
    stage: u8(batch.stage),
    step: i32(batch.step),
    layer: i32(batch.layer),
    source: u8(batch.source),
  }
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
