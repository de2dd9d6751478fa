import { BEAT_MS, MISSED_BEATS } from '../../app/protocol/ranks.ts'

/** Later than ranks notice of each other, who know more. */
const MOST_BEATS = 2 * MISSED_BEATS

export interface SilenceWatch {
  /** It has given a sign of life. */
  heard(): void
  /** It has said that it says nothing now: so many signs of life may fail to come, if those are more than else. */
  allow(beats: number): void
  /** Ends the watch. What to say of the process when it had been silent for too long. */
  release(): string | undefined
}

/**
 * Calls `end` when a process gives no sign of life any more: one that was stopped never hears that it should end. `ask`
 * is called for each sign, where they do not come by themselves.
 */
export const watchSilence = (end: () => void, ask?: () => void): SilenceWatch => {
  let missed = 0
  let most = MOST_BEATS
  const timer = setInterval(() => {
    if (++missed > most) end()
    else ask?.()
  }, BEAT_MS)
  return {
    heard: () => {
      missed = 0
      most = MOST_BEATS
    },
    allow: (beats) => {
      most = Math.max(MOST_BEATS, beats)
    },
    release: () => {
      clearInterval(timer)
      return missed > most ? `had not answered for ${(most * BEAT_MS) / 1000} s` : undefined
    },
  }
}
