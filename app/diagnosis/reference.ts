/**
 * Attention in fp64, computed by whoever has the means: the native engine in the product, a few loops in tests. One query
 * row of all heads over some rows of a cache, in consecutive segments, so that the same pass answers for several sets of
 * keys.
 */
export interface Reference {
  /** Rejects when it cannot be computed. */
  attend(task: AttendTask): Promise<Attended>
}

export interface AttendTask {
  /** [heads * keyDim], row major. */
  readonly q: Float64Array
  readonly heads: number
  readonly keyDim: number
  readonly valueDim: number
  /** [n * kvHeads * keyDim]. */
  readonly keys: Float64Array
  /** [n * kvHeads * valueDim]; absent where a value is the beginning of its key (MLA). */
  readonly values?: Float64Array
  /** Key head of each query head, [heads]. */
  readonly kvHeadOf: Int32Array
  readonly kvHeads: number
  readonly scale: number
  /** Where each segment ends, ascending, the last one at n. */
  readonly segments: Int32Array
}

export interface Attended {
  /** [segments * heads * valueDim]: normalised within its segment; 0 for a segment without keys. */
  readonly out: Float64Array
  /** [segments * heads], natural; -inf for a segment without keys. */
  readonly lse: Float64Array
}
