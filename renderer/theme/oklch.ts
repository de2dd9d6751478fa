/** A colour in OKLCH: lightness 0 to 1, chroma from 0, hue in degrees. */
export interface Oklch {
  readonly l: number
  readonly c: number
  readonly h: number
}

/** Linear-light sRGB, each 0 to 1 where the colour lies in the gamut. */
export type LinearRgb = readonly [number, number, number]

/** Matrices of the OKLab definition (B. Ottosson, 2020). */
const linearOf = ({ l, c, h }: Oklch): LinearRgb => {
  const a = c * Math.cos((h * Math.PI) / 180)
  const b = c * Math.sin((h * Math.PI) / 180)
  const long = (l + 0.3963377774 * a + 0.2158037573 * b) ** 3
  const medium = (l - 0.1055613458 * a - 0.0638541728 * b) ** 3
  const short = (l - 0.0894841775 * a - 1.291485548 * b) ** 3
  return [
    4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
    -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
    -0.0041960863 * long - 0.7034186147 * medium + 1.707614701 * short,
  ]
}

const inGamut = (rgb: LinearRgb): boolean => rgb.every((x) => x >= -1e-6 && x <= 1 + 1e-6)

const encoded = (x: number): number => (x <= 0.0031308 ? 12.92 * x : 1.055 * x ** (1 / 2.4) - 0.055)
const decoded = (x: number): number => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4)

/** `#rrggbb` of a colour; chroma is lowered until sRGB can show it, so lightness and hue stay. */
export const hexOf = (colour: Oklch): string => {
  let c = colour.c
  if (!inGamut(linearOf(colour))) {
    let low = 0
    for (let i = 0; i < 24; i++) {
      const middle = (low + c) / 2
      if (inGamut(linearOf({ ...colour, c: middle }))) low = middle
      else c = middle
    }
    c = low
  }
  const parts = linearOf({ ...colour, c }).map((x) =>
    Math.round(255 * encoded(Math.min(1, Math.max(0, x))))
      .toString(16)
      .padStart(2, '0'),
  )
  return `#${parts.join('')}`
}

/** Linear-light parts of `#rrggbb`. */
export const linearOfHex = (hex: string): LinearRgb => {
  const part = (at: number): number => decoded(Number.parseInt(hex.slice(at, at + 2), 16) / 255)
  return [part(1), part(3), part(5)]
}

/** WCAG relative luminance, 0 to 1. */
export const luminance = (hex: string): number => {
  const [r, g, b] = linearOfHex(hex)
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

/** WCAG contrast ratio, 1 to 21. */
export const contrast = (one: string, other: string): number => {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return ((light ?? 0) + 0.05) / ((dark ?? 0) + 0.05)
}
