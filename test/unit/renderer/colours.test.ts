import { describe, expect, test } from 'vitest'
import { STAGES } from '../../../app/trace/stages.ts'
import {
  baselineColour,
  divergingColour,
  divergingInk,
  rankColour,
  rankColours,
  rankInk,
  rankPattern,
  SIZE_COLOURS,
  sequentialColour,
  shadeOf,
  sizeColour,
  stageColour,
  stageHatched,
  stageInk,
  type Theme,
} from '../../../renderer/theme/colours.ts'
import { contrast, hexOf, type LinearRgb, linearOfHex, luminance } from '../../../renderer/theme/oklch.ts'

const THEMES: readonly Theme[] = ['light', 'dark']
const BACKGROUND = { dark: '#14161a', light: '#f7f8fa' } as const

type Matrix = readonly [LinearRgb, LinearRgb, LinearRgb]

/** Machado, Oliveira and Fernandes (2009), severity 1, on linear sRGB. */
const VISION: Readonly<Record<string, Matrix>> = {
  'full colour vision': [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
}

const dot = (row: LinearRgb, [r, g, b]: LinearRgb): number => row[0] * r + row[1] * g + row[2] * b
const clamped = (x: number): number => Math.min(1, Math.max(0, x))

const seen = (matrix: Matrix, hex: string): LinearRgb => {
  const rgb = linearOfHex(hex)
  return [clamped(dot(matrix[0], rgb)), clamped(dot(matrix[1], rgb)), clamped(dot(matrix[2], rgb))]
}

const oklab = (rgb: LinearRgb): LinearRgb => {
  const l = Math.cbrt(dot([0.4122214708, 0.5363325363, 0.0514459929], rgb))
  const m = Math.cbrt(dot([0.2119034982, 0.6806995451, 0.1073969566], rgb))
  const s = Math.cbrt(dot([0.0883024619, 0.2817188376, 0.6299787005], rgb))
  const lms: LinearRgb = [l, m, s]
  return [
    dot([0.2104542553, 0.793617785, -0.0040720468], lms),
    dot([1.9779984951, -2.428592205, 0.4505937099], lms),
    dot([0.0259040371, 0.7827717662, -0.808675766], lms),
  ]
}

const distance = (matrix: Matrix, one: string, other: string): number => {
  const a = oklab(seen(matrix, one))
  const b = oklab(seen(matrix, other))
  return Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2])
}

const RANKS = Array.from({ length: rankColours('dark') }, (_, rank) => rank)

describe.each(THEMES)('rank colours of the %s theme', (theme) => {
  test.each(Object.entries(VISION))('tell neighbours apart with %s', (_, matrix) => {
    for (const rank of RANKS)
      expect(
        distance(matrix, rankColour(rank, theme), rankColour((rank + 1) % rankColours('dark'), theme)),
        `${rank} and its neighbour`,
      ).toBeGreaterThan(0.1)
  })

  test.each([2, 4, 8, 16])('tell the last of %i ranks from the first', (ranks) => {
    for (const matrix of Object.values(VISION))
      expect(distance(matrix, rankColour(0, theme), rankColour(ranks - 1, theme))).toBeGreaterThan(0.045)
  })

  test('are sixteen, and far apart for the first four', () => {
    expect(new Set(RANKS.map((rank) => rankColour(rank, theme))).size).toBe(16)
    const normal = VISION['full colour vision']
    if (normal === undefined) throw new Error('the table of visions has no full one')
    for (const a of [0, 1, 2, 3])
      for (const b of [0, 1, 2, 3])
        if (a < b) expect(distance(normal, rankColour(a, theme), rankColour(b, theme))).toBeGreaterThan(0.15)
  })

  test('have one lightness', () => {
    const lightness = RANKS.map((rank) => oklab(linearOfHex(rankColour(rank, theme)))[0])
    expect(Math.max(...lightness) - Math.min(...lightness)).toBeLessThan(0.01)
  })

  test('carry readable text and stand out from the background', () => {
    for (const rank of RANKS) {
      expect(contrast(rankInk(rank, theme), rankColour(rank, theme))).toBeGreaterThanOrEqual(4.5)
      expect(contrast(BACKGROUND[shadeOf(theme)], rankColour(rank, theme))).toBeGreaterThanOrEqual(3)
    }
  })
})

describe.each(THEMES)('colours of arrangements in the %s theme', (theme) => {
  const sizes = Array.from({ length: SIZE_COLOURS }, (_, size) => size)

  test('tell the first three sizes apart in every colour vision, and transports of one size', () => {
    for (const [vision, matrix] of Object.entries(VISION)) {
      for (const [a, b] of [
        [0, 1],
        [1, 2],
        [0, 2],
      ] as const)
        expect(distance(matrix, sizeColour(a, 0, theme), sizeColour(b, 0, theme)), vision).toBeGreaterThan(
          0.1,
        )
      for (const size of sizes)
        expect(
          distance(matrix, sizeColour(size, 0, theme), sizeColour(size, 1, theme)),
          vision,
        ).toBeGreaterThan(0.1)
    }
  })

  test('stand out from the background', () => {
    for (const colour of [
      baselineColour(theme),
      ...sizes.flatMap((size) => [0, 1, 2].map((t) => sizeColour(size, t, theme))),
    ])
      expect(contrast(BACKGROUND[shadeOf(theme)], colour), colour).toBeGreaterThanOrEqual(2.5)
  })

  test('of gains carry readable text', () => {
    for (const x of Array.from({ length: 65 }, (_, i) => i / 32 - 1))
      expect(contrast(divergingInk(x, theme), divergingColour(x, theme)), String(x)).toBeGreaterThanOrEqual(
        4.5,
      )
  })
})

test('ranks beyond the sixteenth repeat the colour with another hatch', () => {
  const looks = Array.from(
    { length: 64 },
    (_, rank) => `${rankColour(rank, 'dark')} ${rankPattern(rank, 'dark')}`,
  )
  expect(new Set(looks).size).toBe(64)
  expect(rankColour(17, 'light')).toBe(rankColour(1, 'light'))
  expect(rankPattern(15, 'dark')).toBe(0)
  expect(rankPattern(16, 'dark')).toBe(1)
})

describe.each(THEMES)('other colours of the %s theme', (theme) => {
  test('stages that are not waiting differ and carry readable text', () => {
    const shown = STAGES.filter((stage) => !stageHatched(stage))
    expect(shown).toHaveLength(STAGES.length - 1)
    for (const stage of shown)
      expect(contrast(stageInk(stage, theme), stageColour(stage, theme)), stage).toBeGreaterThanOrEqual(4.5)
    expect(stageColour('decode_attn', theme)).not.toBe(stageColour('q_all_gather', theme))
  })

  test('the ramp of magnitudes goes one way from the background', () => {
    const luminances = Array.from({ length: 33 }, (_, i) => luminance(sequentialColour(i / 32, theme)))
    const steps = luminances.slice(1).map((l, i) => l - (luminances[i] ?? 0))
    expect(steps.every((step) => (theme === 'dark' ? step > 0 : step < 0))).toBe(true)
  })

  test('signed values are neutral at zero and of two hues at the ends; beyond the ends nothing changes', () => {
    expect(divergingColour(2, theme)).toBe(divergingColour(1, theme))
    expect(divergingColour(-1, theme)).not.toBe(divergingColour(1, theme))
    const [r, g, b] = linearOfHex(divergingColour(0, theme))
    expect(Math.max(r, g, b) - Math.min(r, g, b)).toBeLessThan(0.05)
  })
})

describe.each(['light-safe', 'dark-safe'] as const)('colours for every colour vision, %s', (theme) => {
  const ranks = Array.from({ length: rankColours(theme) }, (_, rank) => rank)

  test('tell all pairs of ranks apart, and carry readable text', () => {
    expect(ranks).toHaveLength(8)
    for (const [vision, matrix] of Object.entries(VISION))
      for (const a of ranks)
        for (const b of ranks)
          if (a < b)
            expect(
              distance(matrix, rankColour(a, theme), rankColour(b, theme)),
              `${a} and ${b} with ${vision}`,
            ).toBeGreaterThan(0.12)
    for (const rank of ranks) {
      expect(contrast(rankInk(rank, theme), rankColour(rank, theme))).toBeGreaterThanOrEqual(4.5)
      expect(contrast(BACKGROUND[shadeOf(theme)], rankColour(rank, theme))).toBeGreaterThanOrEqual(3)
    }
    expect(rankPattern(7, theme)).toBe(0)
    expect(rankPattern(8, theme)).toBe(1)
    expect(rankColour(8, theme)).toBe(rankColour(0, theme))
  })

  test('have ramps whose lightness goes one way, and ends of signed values that everybody tells apart', () => {
    const luminances = Array.from({ length: 33 }, (_, i) => luminance(sequentialColour(i / 32, theme)))
    const steps = luminances.slice(1).map((l, i) => l - (luminances[i] ?? 0))
    expect(steps.every((step) => (theme === 'dark-safe' ? step > 0 : step < 0))).toBe(true)
    for (const [vision, matrix] of Object.entries(VISION))
      expect(distance(matrix, divergingColour(-1, theme), divergingColour(1, theme)), vision).toBeGreaterThan(
        0.12,
      )
    for (const x of Array.from({ length: 65 }, (_, i) => i / 32 - 1))
      expect(contrast(divergingInk(x, theme), divergingColour(x, theme)), String(x)).toBeGreaterThanOrEqual(
        4.5,
      )
  })
})

test('a colour outside of sRGB keeps its lightness and hue', () => {
  const vivid = linearOfHex(hexOf({ l: 0.7, c: 0.4, h: 200 }))
  expect(oklab(vivid)[0]).toBeCloseTo(0.7, 2)
  const [, a, b] = oklab(vivid)
  expect(((Math.atan2(b, a) * 180) / Math.PI + 360) % 360).toBeCloseTo(200, 0)
})
