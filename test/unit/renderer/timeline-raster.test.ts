import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LaneLine, type Rgb, rgbOf, SpanRaster } from '../../../renderer/views/timeline/raster.ts'

const WIDTH = 120
const RED: Rgb = [255, 0, 0]
const BLUE: Rgb = [0, 0, 255]
const BLACK: Rgb = [0, 0, 0]

const parts = (pixel: number) => ({
  red: pixel & 255,
  green: (pixel >> 8) & 255,
  blue: (pixel >> 16) & 255,
  alpha: pixel >>> 24,
})

const rowOf = (line: LaneLine, phase = 0): Uint32Array => {
  const out = new Uint32Array(line.width)
  line.row(out, phase, 6, 2, BLACK)
  return out
}

const spans = fc.array(
  fc
    .tuple(fc.double({ min: -20, max: 140, noNaN: true }), fc.double({ min: 0, max: 40, noNaN: true }))
    .map(([from, length]) => ({ from, to: from + length })),
  { maxLength: 40 },
)

const sumOf = (line: LaneLine): number => {
  let sum = 0
  for (let x = 0; x < line.width; x++) sum += line.coverAt(x)
  return sum
}

describe('a lane', () => {
  it('covers just as much as its spans have inside of it', () => {
    fc.assert(
      fc.property(spans, fc.double({ min: 0.01, max: 1, noNaN: true }), (list, share) => {
        const line = new LaneLine(WIDTH)
        for (const { from, to } of list) line.add(from, to, share, RED)
        const inside = list.reduce(
          (sum, { from, to }) => sum + Math.max(0, Math.min(WIDTH, to) - Math.max(0, from)),
          0,
        )
        expect(sumOf(line)).toBeCloseTo(inside * share, 2)
      }),
    )
  })

  it('is the same whether a span comes whole or in pieces', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 60, noNaN: true }),
        fc.double({ min: 60, max: 120, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (from, to, at) => {
          const [whole, pieces] = [new LaneLine(WIDTH), new LaneLine(WIDTH)]
          const cut = from + (to - from) * at
          whole.add(from, to, 1, RED)
          pieces.add(from, cut, 1, RED)
          pieces.add(cut, to, 1, RED)
          for (let x = 0; x < WIDTH; x++) expect(pieces.coverAt(x)).toBeCloseTo(whole.coverAt(x), 4)
        },
      ),
    )
  })

  it('mixes colours by how much of a pixel they cover', () => {
    const line = new LaneLine(2)
    line.add(0, 0.75, 1, RED)
    line.add(0.75, 1, 1, BLUE)
    const pixel = parts(rowOf(line)[0] ?? 0)
    expect(pixel.red).toBeCloseTo(191, -1)
    expect(pixel.blue).toBeCloseTo(64, -1)
    expect(pixel.alpha).toBe(255)
  })

  it('leaves gaps clear and lets no span vanish', () => {
    const line = new LaneLine(3)
    line.add(1, 1.001, 1, RED)
    const row = rowOf(line)
    expect(row[0]).toBe(0)
    expect(parts(row[1] ?? 0).alpha).toBeGreaterThan(40)
    expect(row[2]).toBe(0)
  })

  it('hatches waiting only, in lines that move with the row', () => {
    const line = new LaneLine(24)
    line.add(0, 24, 1, RED)
    line.addWait(0, 12, 1)
    for (const phase of [0, 1, 5]) {
      const dark = [...rowOf(line, phase)].map((pixel) => parts(pixel).red < 128)
      dark.forEach((isDark, x) => {
        expect(isDark).toBe(x < 12 && (x + phase) % 6 < 2)
      })
    }
  })

  it('hatches merged spans the more strongly the more of them was waiting', () => {
    const redAt = (share: number): number => {
      const line = new LaneLine(6)
      line.add(0, 6, 1, RED)
      line.addWait(0, 6, share)
      return parts(rowOf(line)[0] ?? 0).red
    }
    expect(redAt(0.1)).toBeGreaterThan(redAt(0.5))
    expect(redAt(0.5)).toBeGreaterThan(redAt(0.9))
  })
})

describe('the raster', () => {
  it('writes a lane into its rows, cut at the edges, and nothing elsewhere', () => {
    const bytes = new Uint8ClampedArray(4 * 10 * 8)
    const raster = new SpanRaster(10, 8, bytes, 1)
    raster.line.add(0, 10, 1, BLUE)
    raster.put(5, 20, BLACK)
    raster.line.add(0, 10, 1, RED)
    raster.put(-3, 2, BLACK)
    const words = new Uint32Array(bytes.buffer)
    const rowColour = (y: number) => parts(words[y * 10] ?? 0)
    for (const y of [0, 1]) expect(rowColour(y)).toMatchObject({ red: 255, alpha: 255 })
    for (const y of [2, 3, 4]) expect(rowColour(y).alpha).toBe(0)
    for (const y of [5, 6, 7]) expect(rowColour(y)).toMatchObject({ blue: 255, alpha: 255 })
    raster.clear()
    expect(words.every((word) => word === 0)).toBe(true)
  })
})

describe('colours of the theme', () => {
  it.each([
    ['#ff8000', [255, 128, 0]],
    ['#0f0', [0, 255, 0]],
    [' #1a1d22', [26, 29, 34]],
    ['tomato', [128, 128, 128]],
  ])('%s is read as %j', (text, rgb) => {
    expect(rgbOf(text)).toEqual(rgb)
  })
})
