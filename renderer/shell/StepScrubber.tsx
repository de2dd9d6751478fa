import { useEffect, useState } from 'react'
import { formatInt } from '../drawing/format.ts'
import { useSelection } from '../state/selection.ts'
import { useSession } from '../state/session.ts'
import { NextIcon, PauseIcon, PlayIcon, PreviousIcon } from './icons.tsx'
import { moveStep, shownStep } from './scrub.ts'

/** Steps a second while playing. */
const PLAY_RATE = 8

/** Selects a step of the open run; played, it walks to the end and stops there. */
export const StepScrubber = () => {
  const steps = useSession((s) => s.openRun?.steps ?? 0)
  const openId = useSession((s) => s.openId)
  const selected = useSelection((s) => s.step)
  const select = useSelection((s) => s.select)
  const [playing, setPlaying] = useState<string | null>(null)
  const step = shownStep(selected, steps)
  const runs = playing !== null && playing === openId && step !== null && step < steps - 1

  useEffect(() => {
    if (!runs) return
    const timer = setInterval(() => moveStep(1), 1000 / PLAY_RATE)
    return () => clearInterval(timer)
  }, [runs])

  const play = (): void => {
    if (runs) setPlaying(null)
    else {
      if (step === steps - 1) select({ step: 0 })
      setPlaying(openId)
    }
  }

  return (
    <fieldset className="scrubber" aria-label="Step" disabled={steps === 0}>
      <button
        type="button"
        className="button button-quiet button-icon"
        title="Previous step ([)"
        aria-label="Previous step"
        onClick={() => moveStep(-1)}
      >
        <PreviousIcon />
      </button>
      <button
        type="button"
        className="button button-quiet button-icon"
        title={runs ? 'Stop playing' : 'Play through the steps'}
        aria-label={runs ? 'Stop playing' : 'Play through the steps'}
        onClick={play}
      >
        {runs ? <PauseIcon /> : <PlayIcon />}
      </button>
      <button
        type="button"
        className="button button-quiet button-icon"
        title="Next step (])"
        aria-label="Next step"
        onClick={() => moveStep(1)}
      >
        <NextIcon />
      </button>
      <input
        className="scrubber-range"
        type="range"
        aria-label="Step"
        min={0}
        max={Math.max(0, steps - 1)}
        value={step ?? 0}
        data-testid="step-range"
        onChange={(event) => select({ step: Number(event.target.value) })}
      />
      <span
        className="scrubber-text num"
        title={selected === null ? 'Newest step; none is selected' : undefined}
      >
        {step === null ? 'no steps' : `${formatInt(step)} / ${formatInt(steps - 1)}`}
      </span>
    </fieldset>
  )
}
