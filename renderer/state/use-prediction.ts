import { useEffect, useState } from 'react'
import type { RunConfig } from '../../app/run/config.ts'
import type { Prediction } from '../../app/run/machine.ts'
import { desktop } from '../bridge/bridge.ts'
import { useSession } from './session.ts'

export interface PredictionState {
  /** Of the newest configuration that was asked about; null before the first answer. */
  readonly prediction: Prediction | null
  /** Why the engine makes none of the present configuration. */
  readonly refusal: string | null
}

const NOTHING: PredictionState = { prediction: null, refusal: null }

/** Typing a number asks once, at its end. */
const REST_MS = 250

/** Memory that a run of `config` would take, as the engine says; null asks nothing. */
export const usePrediction = (config: RunConfig | null): PredictionState => {
  const [state, setState] = useState(NOTHING)
  const ready = useSession((s) => s.desktop?.engine.status === 'ready')
  useEffect(() => {
    if (config === null || !ready) return setState(NOTHING)
    let wanted = true
    const timer = setTimeout(() => {
      desktop()
        .invoke('predictMemory', { config })
        .then(
          (result) => {
            if (!wanted) return
            setState(
              result.ok
                ? { prediction: result.prediction ?? null, refusal: null }
                : { prediction: null, refusal: result.message },
            )
          },
          (error: unknown) => {
            if (wanted)
              setState({
                prediction: null,
                refusal: error instanceof Error ? error.message : String(error),
              })
          },
        )
    }, REST_MS)
    return () => {
      wanted = false
      clearTimeout(timer)
    }
  }, [config, ready])
  return state
}
