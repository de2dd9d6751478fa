/** A colour as red, green, blue from 0 to 255. */
export type Rgb = readonly [number, number, number]

/** Reads `#rgb` or `#rrggbb`; anything else is middle grey, so that a wrong theme value shows but does not stop. */
export const rgbOf = (hex: string): Rgb => {
  const digits = /^#([0-9a-f]{3}|[0-9a-f]{6})$/i.exec(hex.trim())?.[1]
  if (digits === undefined) return [128, 128, 128]
  const wide = digits.length === 3 ? [...digits].map((d) => d + d).join('') : digits
  const value = Number.parseInt(wide, 16)
  return [value >> 16, (value >> 8) & 255, value & 255]
}

/** Spans that cover less of a pixel than this are drawn as if they covered so much: nothing vanishes. */
const LEAST_COVER = 0.22
/** Least share of waiting that is hatched at all. */
const LEAST_WAIT = 0.04

/**
 * One lane, a pixel high, that collects how much of each pixel its spans cover and in which colours. Work grows with
 * pixels and items, not with the height of the lane: rows of a lane differ only by the phase of the hatch.
 */
export class LaneLine {
  readonly #red: Float32Array
  readonly #green: Float32Array
  readonly #blue: Float32Array
  readonly #cover: Float32Array
  readonly #wait: Float32Array

  constructor(readonly width: number) {
    this.#red = new Float32Array(width)
    this.#green = new Float32Array(width)
    this.#blue = new Float32Array(width)
    this.#cover = new Float32Array(width)
    this.#wait = new Float32Array(width)
  }

  clear(): void {
    for (const part of [this.#red, this.#green, this.#blue, this.#cover, this.#wait]) part.fill(0)
  }

  /** Covered share of pixel `x`, above 1 where spans overlap. */
  coverAt(x: number): number {
    return this.#cover[x] ?? 0
  }

  waitAt(x: number): number {
    return this.#wait[x] ?? 0
  }

  /** Adds a span over [from, to) pixels, of which `share` is really covered. */
  add(from: number, to: number, share: number, [red, green, blue]: Rgb): void {
    const last = Math.min(this.width, Math.ceil(to))
    for (let x = Math.max(0, Math.floor(from)); x < last; x++) {
      const cover = share * (Math.min(x + 1, to) - Math.max(x, from))
      if (cover <= 0) continue
      this.#red[x] = (this.#red[x] ?? 0) + cover * red
      this.#green[x] = (this.#green[x] ?? 0) + cover * green
      this.#blue[x] = (this.#blue[x] ?? 0) + cover * blue
      this.#cover[x] = (this.#cover[x] ?? 0) + cover
    }
  }

  /** Adds waiting over [from, to) pixels. */
  addWait(from: number, to: number, share: number): void {
    const last = Math.min(this.width, Math.ceil(to))
    for (let x = Math.max(0, Math.floor(from)); x < last; x++) {
      const cover = share * (Math.min(x + 1, to) - Math.max(x, from))
      if (cover > 0) this.#wait[x] = (this.#wait[x] ?? 0) + cover
    }
  }

  /**
   * One row of pixels (RGBA as little-endian words, not premultiplied) for the hatch of `phase` out of `period`:
   * lines are `thick` pixels wide and as strong as the waiting has its share of the pixel.
   */
  row(out: Uint32Array, phase: number, period: number, thick: number, [hr, hg, hb]: Rgb): void {
    for (let x = 0; x < this.width; x++) {
      const cover = this.#cover[x] ?? 0
      if (cover === 0) {
        out[x] = 0
        continue
      }
      let red = (this.#red[x] ?? 0) / cover
      let green = (this.#green[x] ?? 0) / cover
      let blue = (this.#blue[x] ?? 0) / cover
      const wait = (this.#wait[x] ?? 0) / cover
      if (wait >= LEAST_WAIT && (x + phase) % period < thick) {
        const ink = Math.min(0.85, 0.25 + 0.75 * wait)
        red += (hr - red) * ink
        green += (hg - green) * ink
        blue += (hb - blue) * ink
      }
      const alpha = Math.min(1, Math.max(LEAST_COVER, cover)) * 255
      out[x] = ((alpha << 24) | (blue << 16) | (green << 8) | red) >>> 0
    }
  }
}

const PERIOD = 6
const THICK = 2

/** Pixels of all lanes; kept between frames and made anew only when the size changes. */
export class SpanRaster {
  readonly line: LaneLine
  readonly #words: Uint32Array
  readonly #rows: readonly Uint32Array[]
  readonly #period: number
  readonly #thick: number

  /** `bytes` are width * height RGBA pixels; `dpr` scales the hatch. */
  constructor(
    readonly width: number,
    readonly height: number,
    bytes: Uint8ClampedArray<ArrayBuffer>,
    dpr: number,
  ) {
    this.line = new LaneLine(width)
    this.#words = new Uint32Array(bytes.buffer, bytes.byteOffset, width * height)
    this.#period = Math.max(2, Math.round(PERIOD * dpr))
    this.#thick = Math.max(1, Math.round(THICK * dpr))
    this.#rows = Array.from({ length: this.#period }, () => new Uint32Array(width))
  }

  clear(): void {
    this.#words.fill(0)
  }

  /** Writes the line into the rows [top, bottom) and begins a new one. */
  put(top: number, bottom: number, hatch: Rgb): void {
    const [first, last] = [Math.max(0, top), Math.min(this.height, bottom)]
    if (last > first)
      this.#rows.forEach((row, phase) => {
        this.line.row(row, phase, this.#period, this.#thick, hatch)
      })
    for (let y = first; y < last; y++) {
      const row = this.#rows[y % this.#period]
      if (row !== undefined) this.#words.set(row, y * this.width)
    }
    this.line.clear()
  }
}
