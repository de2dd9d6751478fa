import { BEAT_MS, MISSED_BEATS } from '../../app/protocol/ranks.ts'

/** Later than ranks notice of each other, who know more. */
const MOST_BEATS = 2 * MISSED_BEATS

export interface SilenceWatch {
  /** It has given a sign of life. */
  heard(): void
  /** Ends the watch. What to say of the process when it had been silent for too long. */
  release(): string | undefined
}

/**
 * Calls `end` when a process gives no sign of life any more: one that was stopped never hears that it should end. `ask`
 * is called for each sign, where they do not come by themselves.
 */
export const watchSilence = (end: () => void, ask?: () => void): SilenceWatch => {
  let missed = 0
  const timer = setInterval(() => {
    if (++missed > MOST_BEATS) end()
    else ask?.()
  }, BEAT_MS)
  return {
    heard: () => {
      missed = 0
    },
    release: () => {
      clearInterval(timer)
      return missed > MOST_BEATS ? `had not answered for ${(MOST_BEATS * BEAT_MS) / 1000} s` : undefined
    },
  }
}
