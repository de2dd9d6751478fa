import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { BEAT_MS, MISSED_BEATS } from '../../../app/protocol/ranks.ts'
import { watchSilence } from '../../../main/process/silence.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

describe('a process that is watched', () => {
  it('is left alone as long as it gives signs of life, which it is asked for', () => {
    const [end, ask] = [vi.fn(), vi.fn()]
    const watch = watchSilence(end, ask)
    for (let i = 0; i < 10; i++) {
      vi.advanceTimersByTime(2 * MISSED_BEATS * BEAT_MS)
      watch.heard()
    }
    expect(end).not.toHaveBeenCalled()
    expect(ask).toHaveBeenCalledTimes(20 * MISSED_BEATS)
    expect(watch.release()).toBeUndefined()
  })

  it('is ended when it is silent for longer, and that is said', () => {
    const end = vi.fn()
    const watch = watchSilence(end)
    vi.advanceTimersByTime((2 * MISSED_BEATS + 1) * BEAT_MS)
    expect(end).toHaveBeenCalledOnce()
    expect(watch.release()).toBe('had not answered for 8 s')
    vi.advanceTimersByTime(60_000)
    expect(end).toHaveBeenCalledOnce()
  })

  it('may be silent for longer when it has said so, once', () => {
    const end = vi.fn()
    const watch = watchSilence(end)
    watch.allow(4 * MISSED_BEATS)
    vi.advanceTimersByTime(4 * MISSED_BEATS * BEAT_MS)
    expect(end).not.toHaveBeenCalled()
    watch.heard()
    vi.advanceTimersByTime((2 * MISSED_BEATS + 1) * BEAT_MS)
    expect(end).toHaveBeenCalledOnce()
    expect(watch.release()).toBe('had not answered for 8 s')
  })

  it('is not watched more closely since it says that it is silent', () => {
    const end = vi.fn()
    const watch = watchSilence(end)
    watch.allow(1)
    vi.advanceTimersByTime(2 * MISSED_BEATS * BEAT_MS)
    expect(end).not.toHaveBeenCalled()
    expect(watch.release()).toBeUndefined()
  })
})
