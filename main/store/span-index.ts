import { STAGES } from '../../app/trace/stages.ts'
import { concatenated, isSorted, type SpanBatch } from './span-batch.ts'
import type { TileBuilder } from './tile-builder.ts'

/** Spans between two snapshots of the running sums. */
const BLOCK = 64
const STAGE_COUNT = STAGES.length

/**
 * All spans of one rank in memory, about 34 bytes each, sorted by start, with running sums at every 64th span. So
 * a part of the time range costs two binary searches and at most two blocks, however many spans lie in it.
 */
export class SpanIndex {
  #length = 0
  #start = new Float64Array(1024)
  #dur = new Float64Array(1024)
  #wait = new Float64Array(1024)
  #stage = new Uint8Array(1024)
  #step = new Int32Array(1024)
  #layer = new Int32Array(1024)
  #source = new Uint8Array(1024)
  /** At the beginning of block b: time of each stage before it. */
  #stageBefore = new Float64Array((1024 / BLOCK) * STAGE_COUNT)
  /** At the beginning of block b: covered time, waiting and latest end of all spans before it. */
  #coverBefore = new Float64Array(1024 / BLOCK)
  #waitBefore = new Float64Array(1024 / BLOCK)
  #endBefore = new Float64Array(1024 / BLOCK)
  /** Latest end of the spans of block b. */
  #blockEnd = new Float64Array(1024 / BLOCK)
  /** Provenances of the spans of block b. */
  #blockSources = new Uint8Array(1024 / BLOCK)
  readonly #stageSums = new Float64Array(STAGE_COUNT)
  /** Scratch of one merged item. */
  readonly #stageTimes = new Float64Array(STAGE_COUNT)
  #cover = 0
  #waited = 0
  #end = Number.NEGATIVE_INFINITY

  get length(): number {
    return this.#length
  }

  /** Adds spans; quick when they are sorted and start at or after the last one. */
  append(batch: SpanBatch): void {
    const first = batch.start[0]
    if (first === undefined) return
    if (isSorted(batch.start) && !(this.#length > 0 && first < (this.#start[this.#length - 1] ?? 0))) {
      for (let i = 0; i < batch.start.length; i++) this.#pushFrom(batch, i)
      return
    }
    const least = batch.start.reduce((a, b) => Math.min(a, b))
    const from = this.#upperBound(least)
    const all = concatenated(this.#copy(from, this.#length), batch)
    const order = Uint32Array.from(all.start.keys()).sort(
      (a, b) => (all.start[a] ?? 0) - (all.start[b] ?? 0) || a - b,
    )
    this.#truncate(from)
    for (const i of order) this.#pushFrom(all, i)
  }

  /** Adds the items of [startNs, endNs) to `tile`: spans, or at most `buckets` merged ones. */
  tile(startNs: number, endNs: number, buckets: number, tile: TileBuilder): void {
    const from = this.#lowerBound(startNs, 0)
    const to = this.#lowerBound(endNs, from)
    const earlier = this.#reachingInto(startNs, from)
    if (earlier.length + to - from <= buckets) {
      for (const i of earlier) this.#addSpan(tile, i)
      for (let i = from; i < to; i++) this.#addSpan(tile, i)
      return
    }
    let at = from
    for (let bucket = 0; bucket < buckets; bucket++) {
      const edge = startNs + ((endNs - startNs) * (bucket + 1)) / buckets
      const next = bucket === buckets - 1 ? to : this.#lowerBound(edge, at, to)
      this.#addMerged(tile, bucket === 0 ? earlier : [], at, next)
      at = next
    }
  }

  /** Start of the span that covers `atNs` and starts last; undefined in a gap. */
  startAt(atNs: number): number | undefined {
    const next = this.#upperBound(atNs)
    const last = next - 1
    if (last >= 0 && this.#endOf(last) > atNs) return this.#start[last]
    const covering = this.#reachingInto(atNs, next).at(-1)
    return covering === undefined ? undefined : this.#start[covering]
  }

  /** Start of the span that begins next after `ns` (1), or last before it (-1); undefined where there is none. */
  startBeside(ns: number, direction: 1 | -1): number | undefined {
    const i = direction === 1 ? this.#upperBound(ns) : this.#lowerBound(ns, 0) - 1
    return i < 0 || i >= this.#length ? undefined : this.#start[i]
  }

  /** Spans before `from`, which all start before `at`, that end after it. */
  #reachingInto(at: number, from: number): number[] {
    const found: number[] = []
    // The first block with such a span: the latest end so far only rises.
    let block = 0
    for (let high = Math.ceil(from / BLOCK); block < high; ) {
      const middle = (block + high) >> 1
      const endAfter = Math.max(this.#endBefore[middle] ?? 0, this.#blockEnd[middle] ?? 0)
      if (endAfter > at) high = middle
      else block = middle + 1
    }
    for (; block * BLOCK < from; block++) {
      if ((this.#blockEnd[block] ?? 0) <= at) continue
      for (let i = block * BLOCK; i < Math.min(from, (block + 1) * BLOCK); i++)
        if (this.#endOf(i) > at) found.push(i)
    }
    return found
  }

  #addSpan(tile: TileBuilder, i: number): void {
    const before = this.#coverUpTo(i)
    tile.add(
      this.#start[i] ?? 0,
      this.#dur[i] ?? 0,
      this.#coverUpTo(i + 1) - before,
      this.#wait[i] ?? 0,
      this.#stage[i] ?? 0,
      this.#step[i] ?? 0,
      this.#layer[i] ?? 0,
      1,
      this.#source[i] ?? 0,
    )
  }

  /** One item for the spans `earlier` and [from, to); its step and layer are those of the first. */
  #addMerged(tile: TileBuilder, earlier: readonly number[], from: number, to: number): void {
    const count = earlier.length + to - from
    const first = earlier[0] ?? from
    if (count === 0) return
    if (count === 1) {
      this.#addSpan(tile, first)
      return
    }
    const stages = this.#stageTimes
    stages.fill(0)
    this.#addStageTimes(to, 1)
    this.#addStageTimes(from, -1)
    let busy = this.#coverUpTo(to) - this.#coverUpTo(from)
    let wait = this.#waitUpTo(to) - this.#waitUpTo(from)
    let end = this.#latestEnd(from, to)
    let sources = this.#sourcesOf(from, to)
    for (const i of earlier) {
      const stage = this.#stage[i] ?? 0
      stages[stage] = (stages[stage] ?? 0) + (this.#dur[i] ?? 0)
      busy += this.#coverUpTo(i + 1) - this.#coverUpTo(i)
      wait += this.#wait[i] ?? 0
      end = Math.max(end, this.#endOf(i))
      sources |= this.#source[i] ?? 0
    }
    const start = this.#start[first] ?? 0
    tile.add(
      start,
      end - start,
      busy,
      wait,
      placeOfMost(stages),
      this.#step[first] ?? 0,
      this.#layer[first] ?? 0,
      count,
      sources,
    )
  }

  #endOf(i: number): number {
    return (this.#start[i] ?? 0) + (this.#dur[i] ?? 0)
  }

  #latestEnd(from: number, to: number): number {
    let end = Number.NEGATIVE_INFINITY
    for (let i = from; i < to; )
      if (i % BLOCK === 0 && i + BLOCK <= to) {
        end = Math.max(end, this.#blockEnd[i / BLOCK] ?? end)
        i += BLOCK
      } else end = Math.max(end, this.#endOf(i++))
    return end
  }

  #sourcesOf(from: number, to: number): number {
    let sources = 0
    for (let i = from; i < to; )
      if (i % BLOCK === 0 && i + BLOCK <= to) {
        sources |= this.#blockSources[i / BLOCK] ?? 0
        i += BLOCK
      } else sources |= this.#source[i++] ?? 0
    return sources
  }

  /** Covered time of the spans before `i`: what each adds to the union of those before it. */
  #coverUpTo(i: number): number {
    if (i === this.#length) return this.#cover
    const block = Math.floor(i / BLOCK)
    let cover = this.#coverBefore[block] ?? 0
    let end = this.#endBefore[block] ?? 0
    for (let k = block * BLOCK; k < i; k++) {
      const spanEnd = this.#endOf(k)
      cover += Math.max(0, spanEnd - Math.max(end, this.#start[k] ?? 0))
      end = Math.max(end, spanEnd)
    }
    return cover
  }

  /** Waiting of the spans before `i`. */
  #waitUpTo(i: number): number {
    if (i === this.#length) return this.#waited
    const block = Math.floor(i / BLOCK)
    let wait = this.#waitBefore[block] ?? 0
    for (let k = block * BLOCK; k < i; k++) wait += this.#wait[k] ?? 0
    return wait
  }

  /** Adds `sign` times the time of each stage before span `i` to the scratch sums. */
  #addStageTimes(i: number, sign: 1 | -1): void {
    const times = this.#stageTimes
    if (i === this.#length) {
      for (let s = 0; s < STAGE_COUNT; s++) times[s] = (times[s] ?? 0) + sign * (this.#stageSums[s] ?? 0)
      return
    }
    const block = Math.floor(i / BLOCK)
    const before = block * STAGE_COUNT
    for (let s = 0; s < STAGE_COUNT; s++)
      times[s] = (times[s] ?? 0) + sign * (this.#stageBefore[before + s] ?? 0)
    for (let k = block * BLOCK; k < i; k++) {
      const stage = this.#stage[k] ?? 0
      times[stage] = (times[stage] ?? 0) + sign * (this.#dur[k] ?? 0)
    }
  }

  /** First span from `low` on that starts at or after `at`. */
  #lowerBound(at: number, low: number, high = this.#length): number {
    let [from, to] = [low, high]
    while (from < to) {
      const middle = (from + to) >> 1
      if ((this.#start[middle] ?? 0) < at) from = middle + 1
      else to = middle
    }
    return from
  }

  /** First span that starts after `at`. */
  #upperBound(at: number): number {
    let [from, to] = [0, this.#length]
    while (from < to) {
      const middle = (from + to) >> 1
      if ((this.#start[middle] ?? 0) <= at) from = middle + 1
      else to = middle
    }
    return from
  }

  #pushFrom(batch: SpanBatch, i: number): void {
    this.#push(
      batch.start[i] ?? 0,
      batch.dur[i] ?? 0,
      batch.wait[i] ?? 0,
      batch.stage[i] ?? 0,
      batch.step[i] ?? 0,
      batch.layer[i] ?? 0,
      batch.source[i] ?? 0,
    )
  }

  #push(
    start: number,
    dur: number,
    wait: number,
    stage: number,
    step: number,
    layer: number,
    source: number,
  ): void {
    if (stage >= STAGE_COUNT) throw new RangeError(`stage code ${stage} is not known`)
    const i = this.#length
    if (i === this.#start.length) this.#grow()
    const block = Math.floor(i / BLOCK)
    if (i % BLOCK === 0) {
      this.#stageBefore.set(this.#stageSums, block * STAGE_COUNT)
      this.#coverBefore[block] = this.#cover
      this.#waitBefore[block] = this.#waited
      this.#endBefore[block] = this.#end
      this.#blockEnd[block] = Number.NEGATIVE_INFINITY
      this.#blockSources[block] = 0
    }
    this.#start[i] = start
    this.#dur[i] = dur
    this.#wait[i] = wait
    this.#stage[i] = stage
    this.#step[i] = step
    this.#layer[i] = layer
    this.#source[i] = source
    const end = start + dur
    this.#stageSums[stage] = (this.#stageSums[stage] ?? 0) + dur
    this.#cover += Math.max(0, end - Math.max(this.#end, start))
    this.#waited += wait
    this.#end = Math.max(this.#end, end)
    this.#blockEnd[block] = Math.max(this.#blockEnd[block] ?? end, end)
    this.#blockSources[block] = (this.#blockSources[block] ?? 0) | source
    this.#length = i + 1
  }

  #grow(): void {
    const size = this.#start.length * 2
    this.#start = grown(new Float64Array(size), this.#start)
    this.#dur = grown(new Float64Array(size), this.#dur)
    this.#wait = grown(new Float64Array(size), this.#wait)
    this.#stage = grown(new Uint8Array(size), this.#stage)
    this.#step = grown(new Int32Array(size), this.#step)
    this.#layer = grown(new Int32Array(size), this.#layer)
    this.#source = grown(new Uint8Array(size), this.#source)
    this.#stageBefore = grown(new Float64Array((size / BLOCK) * STAGE_COUNT), this.#stageBefore)
    this.#coverBefore = grown(new Float64Array(size / BLOCK), this.#coverBefore)
    this.#waitBefore = grown(new Float64Array(size / BLOCK), this.#waitBefore)
    this.#endBefore = grown(new Float64Array(size / BLOCK), this.#endBefore)
    this.#blockEnd = grown(new Float64Array(size / BLOCK), this.#blockEnd)
    this.#blockSources = grown(new Uint8Array(size / BLOCK), this.#blockSources)
  }

  #copy(from: number, to: number): SpanBatch {
    return {
      start: this.#start.slice(from, to),
      dur: this.#dur.slice(from, to),
      wait: this.#wait.slice(from, to),
      stage: this.#stage.slice(from, to),
      step: this.#step.slice(from, to),
      layer: this.#layer.slice(from, to),
      source: this.#source.slice(from, to),
    }
  }

  /** Forgets the spans from `length` on; the sums go back to the last snapshot and are taken up again from there. */
  #truncate(length: number): void {
    if (length === this.#length) return
    const block = Math.floor(length / BLOCK)
    const kept = this.#copy(block * BLOCK, length)
    this.#stageSums.set(this.#stageBefore.subarray(block * STAGE_COUNT, (block + 1) * STAGE_COUNT))
    this.#cover = this.#coverBefore[block] ?? 0
    this.#waited = this.#waitBefore[block] ?? 0
    this.#end = this.#endBefore[block] ?? Number.NEGATIVE_INFINITY
    this.#length = block * BLOCK
    for (let i = 0; i < kept.start.length; i++) this.#pushFrom(kept, i)
  }
}

const placeOfMost = (values: Float64Array): number => {
  let most = 0
  for (let i = 1; i < values.length; i++) if ((values[i] ?? 0) > (values[most] ?? 0)) most = i
  return most
}

const grown = <T extends { set(other: T): void }>(larger: T, from: T): T => {
  larger.set(from)
  return larger
}
