import { afterEach, describe, expect, it, test } from 'vitest'
import { DEFAULT_SETTINGS, type Settings } from '../../../app/settings/settings.ts'
import {
  formatBytes,
  formatFloat,
  formatInt,
  formatMs,
  formatNs,
  formatPercent,
  formatRate,
  formatSci,
  formatUs,
} from '../../../renderer/drawing/format.ts'
import { useSettings } from '../../../renderer/state/settings.ts'

/** Thin spaces as plain ones. */
const plain = (text: string): string => text.replaceAll('\u2009', ' ')

test('thousands are parted and signs are real minus signs', () => {
  expect(plain(formatInt(1234567))).toBe('1 234 567')
  expect(plain(formatInt(-1234))).toBe('−1 234')
  expect(plain(formatFloat(-0.0001, 2))).toBe('0.00')
  expect(plain(formatFloat(1234.5678, 2))).toBe('1 234.57')
})

test('durations take the unit that suits them', () => {
  expect(plain(formatNs(0))).toBe('0 ns')
  expect(plain(formatNs(999))).toBe('999 ns')
  expect(plain(formatNs(1234))).toBe('1.2 µs')
  expect(plain(formatNs(1_234_567))).toBe('1.23 ms')
  expect(plain(formatNs(2_500_000_000))).toBe('2.500 s')
  expect(plain(formatUs(1234.56))).toBe('1 234.6 µs')
  expect(plain(formatMs(4.6251))).toBe('4.63 ms')
})

test('rates have three digits', () => {
  expect([0, 0.01234, 1.234, 12.34, 123.4, 12345].map((x) => plain(formatRate(x)))).toEqual([
    '0',
    '0.012',
    '1.23',
    '12.3',
    '123',
    '12 345',
  ])
})

test('errors are written in powers of ten', () => {
  expect(formatSci(0)).toBe('0')
  expect(formatSci(0.00404)).toBe('4.04e−3')
  expect(formatSci(-1234)).toBe('−1.23e3')
})

test('bytes are binary units and shares are percent', () => {
  expect(plain(formatBytes(0))).toBe('0 B')
  expect(plain(formatBytes(1023))).toBe('1 023 B')
  expect(plain(formatBytes(1536))).toBe('1.50 KiB')
  expect(plain(formatBytes(2 ** 31))).toBe('2.00 GiB')
  expect(plain(formatPercent(0.355))).toBe('35.5 %')
})

test('values that are no numbers are named', () => {
  expect([Number.NaN, Infinity, -Infinity].map(formatSci)).toEqual(['NaN', '∞', '−∞'])
  // What JSON keeps of an infinity.
  expect([Number.MAX_VALUE, -Number.MAX_VALUE].map(formatSci)).toEqual(['∞', '−∞'])
  expect(formatNs(Number.NaN)).toBe('NaN')
})

describe('numbers as the person set them', () => {
  afterEach(() => useSettings.setState({ settings: DEFAULT_SETTINGS }))
  const set = (parts: Partial<Settings>): void =>
    useSettings.setState({ settings: { ...DEFAULT_SETTINGS, ...parts } })

  it('part thousands, and keep one unit', () => {
    set({ thousands: 'comma' })
    expect(formatInt(1_234_567)).toBe('1,234,567')
    set({ thousands: 'none' })
    expect(formatInt(1_234_567)).toBe('1234567')
    set({ durations: 'us' })
    expect(formatNs(1_234_567)).toBe('1\u2009234.6\u2009µs')
    set({ durations: 'ms' })
    expect(formatNs(12_345)).toBe('0.0123\u2009ms')
    set({ bytes: 'decimal' })
    expect(formatBytes(1_500_000)).toBe('1.50\u2009MB')
  })
})
