import type { EngineEvent } from '../../app/protocol/engine.ts'

/** Exit code of a process whose device failed: nothing works there any more, and only a new one can use the device. */
const DEVICE_FAILED = 3
/** For the last words to get out. */
const LAST_WORDS_MS = 200

/**
 * Reports through `post`, and ends the process behind the report of a run whose device failed. By then the store has
 * closed the bundle.
 */
export const untilPoisoned =
  (
    post: (event: EngineEvent) => void,
    complain: (sentence: string) => void,
    exit: (code: number) => void,
  ): ((event: EngineEvent) => void) =>
  (event) => {
    post(event)
    if (event.type !== 'ended' || event.code !== 'ERR_DEVICE') return
    complain(event.error ?? 'the device failed')
    setTimeout(() => exit(DEVICE_FAILED), LAST_WORDS_MS)
  }
