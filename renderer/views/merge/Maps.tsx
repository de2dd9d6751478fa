import type { CaptureKey } from './choice.ts'
import { ErrorMap } from './ErrorMap.tsx'
import { MERGE_MAPS, type MergeMap, useMergeLook } from './look.ts'
import type { CaptureShape } from './model.ts'
import { WeightMap } from './WeightMap.tsx'

interface Props {
  readonly run: string
  readonly captured: CaptureKey
  readonly capture: CaptureShape
  readonly row: number
  readonly head: number
}

const WORDS: Readonly<Record<MergeMap, { readonly word: string; readonly title: string }>> = {
  error: { word: 'Error', title: 'Relative error of every row and head (M)' },
  weight: { word: 'Weights', title: 'From which rank every row and head comes (M)' },
}

/** What is shown of every row and head. */
export const Maps = ({ run, captured, capture, row, head }: Props) => {
  const { map, showMap } = useMergeLook()
  const picked = { row, head }
  return (
    <div className="merge-map">
      <h3>
        Every row and head
        <fieldset className="merge-parts" aria-label="Map">
          {MERGE_MAPS.map((one) => (
            <button
              key={one}
              type="button"
              className="button"
              title={WORDS[one].title}
              aria-pressed={map === one}
              data-testid={`merge-map-${one}`}
              onClick={() => showMap(one)}
            >
              {WORDS[one].word}
            </button>
          ))}
        </fieldset>
      </h3>
      {map === 'error' ? (
        <ErrorMap capture={capture} picked={picked} />
      ) : (
        <WeightMap
          params={{ run, step: captured.step, layer: captured.layer }}
          capture={capture}
          picked={picked}
        />
      )}
    </div>
  )
}
