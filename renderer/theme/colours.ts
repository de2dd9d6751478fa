import { STAGE_FAMILY, type Stage, type StageFamily } from '../../app/trace/stages.ts'
import type { Pen } from '../drawing/pen.ts'
import { contrast, hexOf, type Oklch } from './oklch.ts'

/** Ground of the interface. */
export type Shade = 'light' | 'dark'

/** A shade with the colours of data on it: the usual ones, or those that all differ in every colour vision. */
export type Theme = Shade | `${Shade}-safe`

export const shadeOf = (theme: Theme): Shade => (theme === 'dark' || theme === 'dark-safe' ? 'dark' : 'light')

const isSafe = (theme: Theme): boolean => theme !== shadeOf(theme)

/**
 * Hues of the ranks, evenly spaced over the circle. The order was searched for: neighbours (also the last and the
 * first) stay at least 0.1 apart in OKLab for protanopes, deuteranopes and tritanopes as well, and the first four
 * are far from each other. Lightness and chroma are the same for all, so that no rank stands out.
 */
const RANK_HUES = [292.5, 90, 202.5, 22.5, 270, 0, 247.5, 45, 225, 67.5, 180, 112.5, 337.5, 135, 315, 157.5]

const RANK_TONE = { dark: { l: 0.74, c: 0.16 }, light: { l: 0.62, c: 0.17 } } as const

/** Pure black and white: of both one has a contrast of at least 4.5 to every colour. */
const INKS = ['#000000', '#ffffff'] as const

const inkOn = (colour: string): string =>
  contrast(INKS[0], colour) >= contrast(INKS[1], colour) ? INKS[0] : INKS[1]

const inThemes = <T>(make: (theme: Theme) => T): Readonly<Record<Theme, T>> => ({
  light: make('light'),
  dark: make('dark'),
  'light-safe': make('light-safe'),
  'dark-safe': make('dark-safe'),
})

/**
 * Ranks that can be told apart by everybody, so fewer: all pairs stay at least 0.12 apart in OKLab for protanopes, deuteranopes
 * and tritanopes as well, by lightness where hue cannot. Searched for; the first four are the farthest.
 */
const SAFE_RANKS: Readonly<Record<Shade, readonly Oklch[]>> = {
  dark: [
    { l: 0.72, c: 0.18, h: 60 },
    { l: 0.54, c: 0.18, h: 300 },
    { l: 0.95, c: 0.12, h: 195 },
    { l: 0.6, c: 0.12, h: 195 },
    { l: 0.9, c: 0.18, h: 105 },
    { l: 0.72, c: 0.18, h: 300 },
    { l: 0.54, c: 0.18, h: 45 },
    { l: 0.78, c: 0.12, h: 180 },
  ],
  light: [
    { l: 0.66, c: 0.18, h: 45 },
    { l: 0.42, c: 0.18, h: 300 },
    { l: 0.66, c: 0.18, h: 270 },
    { l: 0.48, c: 0.12, h: 195 },
    { l: 0.3, c: 0.12, h: 240 },
    { l: 0.48, c: 0.18, h: 30 },
    { l: 0.66, c: 0.05, h: 345 },
    { l: 0.3, c: 0.12, h: 30 },
  ],
}

/** Ranks that have a colour of their own. */
export const rankColours = (theme: Theme): number =>
  isSafe(theme) ? SAFE_RANKS[shadeOf(theme)].length : RANK_HUES.length

const RANKS = inThemes((theme) =>
  isSafe(theme)
    ? SAFE_RANKS[shadeOf(theme)].map(hexOf)
    : RANK_HUES.map((h) => hexOf({ ...RANK_TONE[shadeOf(theme)], h })),
)
const RANK_INKS = inThemes((theme) => RANKS[theme].map(inkOn))

const at = (colours: readonly string[], index: number): string =>
  colours[((index % colours.length) + colours.length) % colours.length] ?? '#808080'

/** Colour of a rank, the same in every view; from `rankColours` on they repeat and `rankPattern` tells them apart. */
export const rankColour = (rank: number, theme: Theme): string => at(RANKS[theme], rank)

/** Hatch over the colour: 0 none, then three kinds of lines. */
export const rankPattern = (rank: number, theme: Theme): 0 | 1 | 2 | 3 => {
  const round = Math.floor(Math.max(0, rank) / rankColours(theme)) % 4
  return round === 1 ? 1 : round === 2 ? 2 : round === 3 ? 3 : 0
}

/** Text on a rank's colour, contrast at least 4.5. */
export const rankInk = (rank: number, theme: Theme): string => at(RANK_INKS[theme], rank)

const FAMILY_HUE: Readonly<Record<StageFamily, { readonly h: number; readonly c: number }>> = {
  compute: { h: 250, c: 0.13 },
  communication: { h: 58, c: 0.14 },
  memory: { h: 250, c: 0.012 },
  merge: { h: 310, c: 0.13 },
  waiting: { h: 250, c: 0.006 },
}

/** Place of a stage within its family: members differ by lightness. */
const STAGE_TONE: Readonly<Record<Stage, number>> = {
  metadata: 0,
  q_all_gather: 0,
  kv_append: 1,
  decode_attn: 0,
  split_combine: 1,
  neutralize: 2,
  lse_all_gather: 1,
  lse_correct: 0,
  out_reduce_scatter: 2,
  out_all_to_all: 2,
  merge: 1,
  rest_of_layer: 2,
  graph_replay: 3,
  stall: 0,
}

const LIGHTNESS: Readonly<Record<Shade, readonly number[]>> = {
  dark: [0.66, 0.78, 0.56, 0.86],
  light: [0.6, 0.72, 0.48, 0.82],
}

const stageOf = (stage: Stage, theme: Theme): string =>
  hexOf({ ...FAMILY_HUE[STAGE_FAMILY[stage]], l: LIGHTNESS[shadeOf(theme)][STAGE_TONE[stage]] ?? 0.6 })

const STAGES_OF = inThemes((theme) => {
  const colours = new Map<Stage, string>()
  return (stage: Stage): string => {
    const known = colours.get(stage)
    if (known !== undefined) return known
    const colour = stageOf(stage, theme)
    colours.set(stage, colour)
    return colour
  }
})

/** Compute in blues, communication in oranges, memory in greys, merge in purples. */
export const stageColour = (stage: Stage, theme: Theme): string => STAGES_OF[theme](stage)

/** Text on a stage's colour, contrast at least 4.5. */
export const stageInk = (stage: Stage, theme: Theme): string => inkOn(stageColour(stage, theme))

/** Waiting is hatched wherever it is drawn. */
export const stageHatched = (stage: Stage): boolean => STAGE_FAMILY[stage] === 'waiting'

const RAMP_STEPS = 64

const ramp = (colour: (x: number) => string): readonly string[] =>
  Array.from({ length: RAMP_STEPS + 1 }, (_, i) => colour(i / RAMP_STEPS))

/** From blue over grey to yellow: lightness and the only difference of hues that every colour vision sees go together. */
const blueYellow = (l: number): string => {
  const x = (l - 0.25) / 0.7
  return hexOf({ l, c: 0.13 * Math.abs(2 * x - 1) ** 0.8, h: x < 0.5 ? 255 : 95 })
}

const SEQUENTIAL = inThemes((theme) =>
  ramp((x) =>
    isSafe(theme)
      ? blueYellow(shadeOf(theme) === 'dark' ? 0.26 + 0.67 * x : 0.95 - 0.65 * x)
      : shadeOf(theme) === 'dark'
        ? hexOf({ l: 0.24 + 0.66 * x, c: 0.02 + 0.12 * Math.sin(Math.PI * (0.15 + 0.7 * x)), h: 240 })
        : hexOf({ l: 0.97 - 0.6 * x, c: 0.01 + 0.14 * Math.sin(Math.PI * 0.75 * x), h: 245 }),
  ),
)

const DIVERGING = inThemes((theme) => {
  const side = (h: number) =>
    ramp((x) =>
      shadeOf(theme) === 'dark'
        ? hexOf({ l: 0.28 + 0.5 * x, c: 0.005 + 0.15 * x, h })
        : hexOf({ l: 0.96 - 0.48 * x, c: 0.005 + 0.15 * x, h }),
    )
  return isSafe(theme) ? { below: side(255), above: side(65) } : { below: side(305), above: side(150) }
})

const step = (x: number): number => Math.round(Math.min(1, Math.max(0, x)) * RAMP_STEPS)

/** Single-hue ramp for weights and magnitudes; `x` is clamped to 0 to 1. */
export const sequentialColour = (x: number, theme: Theme): string => SEQUENTIAL[theme][step(x)] ?? '#808080'

/** Text on a magnitude's colour, contrast at least 4.5. */
export const sequentialInk = (x: number, theme: Theme): string => inkOn(sequentialColour(x, theme))

/** Signed values centred on zero: purple below and green above, or blue and orange; `x` is clamped to -1 to 1. */
export const divergingColour = (x: number, theme: Theme): string => {
  const { below, above } = DIVERGING[theme]
  return (x < 0 ? below : above)[step(Math.abs(x))] ?? '#808080'
}

/** Text on a signed value's colour, contrast at least 4.5. */
export const divergingInk = (x: number, theme: Theme): string => inkOn(divergingColour(x, theme))

/**
 * Hues of the sizes of a sweep, smallest first: the first three stay at least 0.1 apart in OKLab for protanopes,
 * deuteranopes and tritanopes as well. Shapes tell all of them apart.
 */
const SIZE_HUES = [240, 100, 355, 165, 310, 45] as const

export const SIZE_COLOURS = SIZE_HUES.length

/** Transports of one size differ by lightness, and by how their marks are filled. */
const TRANSPORT_TONE: Readonly<Record<Shade, readonly number[]>> = {
  dark: [0.68, 0.84, 0.56],
  light: [0.55, 0.68, 0.42],
}

const SIZES = inThemes((theme) =>
  TRANSPORT_TONE[shadeOf(theme)].map((l) => SIZE_HUES.map((h) => hexOf({ l, c: 0.15, h }))),
)

/** Colour of an arrangement by the place of its size and of its transport among those of the sweep. */
export const sizeColour = (size: number, transport: number, theme: Theme): string =>
  at(SIZES[theme][transport % 3] ?? [], size)

/** Of the baseline, which has no size: as text. */
const BASELINE: Readonly<Record<Shade, string>> = { dark: '#c9ced6', light: '#343a43' }

export const baselineColour = (theme: Theme): string => BASELINE[shadeOf(theme)]

export type Status = 'ok' | 'warn' | 'bad'

/** As --ok, --warn and --bad in tokens.css. */
const STATUS: Readonly<Record<Shade, Readonly<Record<Status, string>>>> = {
  dark: { ok: '#55c08a', warn: '#e8b04b', bad: '#ff6b62' },
  light: { ok: '#18794b', warn: '#8a5a00', bad: '#c4271d' },
}

export const statusColour = (status: Status, theme: Theme): string => STATUS[shadeOf(theme)][status]

/** Texture of NaN: a coarse check in red over the background's opposite, so that it shows in greyscale too. */
export const nanPattern = (ctx: Pen, theme: Theme): CanvasPattern => {
  const tile = document.createElement('canvas')
  tile.width = 6
  tile.height = 6
  const pen = tile.getContext('2d')
  const pattern = ctx.createPattern(tile, 'repeat')
  if (pen === null || pattern === null) throw new Error('The texture of NaN cannot be drawn.')
  pen.fillStyle = shadeOf(theme) === 'dark' ? '#ffffff' : '#000000'
  pen.fillRect(0, 0, 6, 6)
  pen.fillStyle = statusColour('bad', theme)
  pen.fillRect(0, 0, 3, 3)
  pen.fillRect(3, 3, 3, 3)
  return ctx.createPattern(tile, 'repeat') ?? pattern
}
