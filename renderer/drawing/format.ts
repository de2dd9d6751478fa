import type { Settings } from '../../app/settings/settings.ts'
import { useSettings } from '../state/settings.ts'

const THIN = '\u2009'

const SEPARATORS: Readonly<Record<Settings['thousands'], string>> = { thin: THIN, comma: ',', none: '' }

/** How numbers are written, as the person set it. */
const written = (): Settings => useSettings.getState().settings

const grouped = (digits: string): string =>
  digits.replace(/\B(?=(\d{3})+(?!\d))/g, SEPARATORS[written().thousands])

/** The largest number stands for infinity in JSON, which has none. */
const unusual = (x: number): string | null =>
  Number.isNaN(x) ? 'NaN' : x >= Number.MAX_VALUE ? '∞' : x <= -Number.MAX_VALUE ? '−∞' : null

const signed = (x: number, text: string): string => (x < 0 ? `−${text}` : text)

/** Fixed digits after the point, thousands parted as set. */
export const formatFloat = (x: number, digits: number): string => {
  const odd = unusual(x)
  if (odd !== null) return odd
  const [whole = '0', fraction] = Math.abs(x).toFixed(digits).split('.')
  const zero = Number(Math.abs(x).toFixed(digits)) === 0
  const text = fraction === undefined ? grouped(whole) : `${grouped(whole)}.${fraction}`
  return zero ? text : signed(x, text)
}

/** A whole number with thousands parted as set. */
export const formatInt = (x: number): string => formatFloat(Math.round(x), 0)

/** Three significant digits, never in exponent form between 0.001 and 10^15. */
const significant = (x: number): string => {
  const size = Math.abs(x)
  if (size === 0) return '0'
  if (size < 1e-3 || size >= 1e15) return formatSci(x)
  if (size >= 100) return formatFloat(x, 0)
  if (size >= 10) return formatFloat(x, 1)
  return formatFloat(x, size >= 1 ? 2 : 3)
}

/** A rate with three digits: `12.3`, `1 234`. */
export const formatRate = (x: number): string => unusual(x) ?? significant(x)

/** Microseconds with one decimal: `12.3 µs`. */
export const formatUs = (us: number): string => `${formatFloat(us, 1)}${THIN}µs`

/** Milliseconds with two decimals. */
export const formatMs = (ms: number): string => `${formatFloat(ms, 2)}${THIN}ms`

/** A duration in nanoseconds, in the unit that is set or else in that which shows it with one to three digits before the point. */
export const formatNs = (ns: number): string => {
  const odd = unusual(ns)
  if (odd !== null) return odd
  const { durations } = written()
  if (durations === 'us') return formatUs(ns / 1e3)
  if (durations === 'ms') return `${formatFloat(ns / 1e6, 4)}${THIN}ms`
  const size = Math.abs(ns)
  if (size < 1e3) return `${formatFloat(ns, 0)}${THIN}ns`
  if (size < 1e6) return formatUs(ns / 1e3)
  if (size < 1e9) return formatMs(ns / 1e6)
  return `${formatFloat(ns / 1e9, 3)}${THIN}s`
}

const UNITS = {
  binary: { step: 1024, names: ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] },
  decimal: { step: 1000, names: ['B', 'kB', 'MB', 'GB', 'TB', 'PB'] },
} as const

/** Bytes in binary or decimal units, as set, with three digits: `1.50 MiB`. */
export const formatBytes = (bytes: number): string => {
  const odd = unusual(bytes)
  if (odd !== null) return odd
  const { step, names } = UNITS[written().bytes]
  let value = bytes
  let unit = 0
  while (Math.abs(value) >= step && unit < names.length - 1) {
    value /= step
    unit++
  }
  return `${unit === 0 ? formatInt(value) : significant(value)}${THIN}${names[unit]}`
}

/** Errors and other small numbers: `3.21e-7`, `0`. */
export const formatSci = (x: number): string => {
  const odd = unusual(x)
  if (odd !== null) return odd
  if (x === 0) return '0'
  const [mantissa = '0', exponent = '0'] = Math.abs(x).toExponential(2).split('e')
  return signed(x, `${mantissa}e${exponent.replace('+', '').replace('-', '−')}`)
}

/** A share between 0 and 1 in percent with one decimal. */
export const formatPercent = (share: number): string => `${formatFloat(share * 100, 1)}${THIN}%`

/** A number of a tensor with as many digits as tell. */
export const formatValue = (x: number): string => {
  if (!Number.isFinite(x)) return Number.isNaN(x) ? 'NaN' : x > 0 ? '+∞' : '−∞'
  if (Number.isInteger(x) && Math.abs(x) < 1e9) return formatInt(x)
  const size = Math.abs(x)
  return size >= 1e-3 && size < 1e6 ? formatFloat(x, size >= 100 ? 2 : 4) : formatSci(x)
}
