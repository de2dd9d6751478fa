import type { StoreResult } from '../../app/protocol/store.ts'

type TileItems = StoreResult<'spanTile'>['outer']

/** Collects the items of a tile rank by rank into growing typed arrays. */
export class TileBuilder {
  /** Rank of the items that are added now. */
  rank = 0
  #length = 0
  #rank = new Int32Array(1024)
  #start = new Float64Array(1024)
  #dur = new Float64Array(1024)
  #busy = new Float64Array(1024)
  #wait = new Float64Array(1024)
  #stage = new Uint8Array(1024)
  #step = new Int32Array(1024)
  #layer = new Int32Array(1024)
  #count = new Int32Array(1024)
  #sources = new Uint8Array(1024)

  add(
    start: number,
    dur: number,
    busy: number,
    wait: number,
    stage: number,
    step: number,
    layer: number,
    count: number,
    sources: number,
  ): void {
    const i = this.#length
    if (i === this.#start.length) this.#resize(i * 2)
    this.#rank[i] = this.rank
    this.#start[i] = start
    this.#dur[i] = dur
    this.#busy[i] = busy
    this.#wait[i] = wait
    this.#stage[i] = stage
    this.#step[i] = step
    this.#layer[i] = layer
    this.#count[i] = count
    this.#sources[i] = sources
    this.#length = i + 1
  }

  /** Arrays of their own exact size, since a message carries the whole buffer behind a view. */
  build(): TileItems {
    this.#resize(this.#length)
    return {
      rank: this.#rank,
      start: this.#start,
      dur: this.#dur,
      busy: this.#busy,
      wait: this.#wait,
      stage: this.#stage,
      step: this.#step,
      layer: this.#layer,
      count: this.#count,
      sources: this.#sources,
    }
  }

  #resize(size: number): void {
    const keep = Math.min(this.#length, size)
    const i32 = (from: Int32Array): Int32Array<ArrayBuffer> => {
      const to = new Int32Array(size)
      to.set(from.subarray(0, keep))
      return to
    }
    const f64 = (from: Float64Array): Float64Array<ArrayBuffer> => {
      const to = new Float64Array(size)
      to.set(from.subarray(0, keep))
      return to
    }
    const u8 = (from: Uint8Array): Uint8Array<ArrayBuffer> => {
      const to = new Uint8Array(size)
      to.set(from.subarray(0, keep))
      return to
    }
    this.#stage = u8(this.#stage)
    this.#sources = u8(this.#sources)
    this.#rank = i32(this.#rank)
    this.#start = f64(this.#start)
    this.#dur = f64(this.#dur)
    this.#busy = f64(this.#busy)
    this.#wait = f64(this.#wait)
    this.#step = i32(this.#step)
    this.#layer = i32(this.#layer)
    this.#count = i32(this.#count)
  }
}
