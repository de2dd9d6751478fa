import { convertLse, type LseBase } from '../../../app/lse/base.ts'
import type { RunInfo } from '../../../app/protocol/store.ts'
import { useSelection } from '../../state/selection.ts'
import { lseText } from './lse-text.ts'
import { useSteps } from './use-steps.ts'
import { sciText } from './Verdicts.tsx'
import { WeightBar } from './WeightBar.tsx'

interface Props {
  readonly run: RunInfo
  readonly step: number
  readonly layer: number
  readonly row: number
  readonly head: number
  /** Base of the capture, and that in which lse are shown. */
  readonly base: LseBase
  readonly shown: LseBase
}

/** How weights, lse and error of a row and head go over the captured steps; a click selects the step. */
export const StepTable = ({ run, step, layer, row, head, base, shown }: Props) => {
  const select = useSelection((s) => s.select)
  const { steps, error } = useSteps(run, { layer, row, head }, base)
  if (error !== null)
    return (
      <p className="merge-error" role="alert">
        {error}
      </p>
    )
  if (steps === null) return <p className="merge-note">Reading the captured steps …</p>
  return (
    <div className="merge-scroll">
      <table className="merge-what-if" data-testid="merge-steps">
        <caption className="merge-note">
          Row {row}, head {head} of layer {layer} at every captured step
          {steps.length > 1 ? '' : '; capture.steps of the configuration keeps more'}
        </caption>
        <thead>
          <tr>
            <th scope="col">step</th>
            <th scope="col">weights</th>
            <th scope="col" className="num" title={`log-sum-exp, base ${shown}`}>
              lse
            </th>
            <th scope="col" className="num" title="Relative error of the merged vector against the reference">
              error
            </th>
          </tr>
        </thead>
        <tbody>
          {steps.map((one) => (
            <tr
              key={one.step}
              className={one.step === step ? 'rank-row rank-row-selected' : 'rank-row'}
              onClick={() => select({ step: one.step, layer })}
            >
              <th scope="row">
                <button
                  type="button"
                  className="merge-step num"
                  aria-pressed={one.step === step}
                  onClick={() => select({ step: one.step, layer })}
                >
                  {one.step}
                </button>
              </th>
              <td>
                <WeightBar weights={one.weights} />
              </td>
              <td className="num">{lseText(convertLse(one.lse, base, shown))}</td>
              <td className="num">{one.error === null ? '–' : sciText(one.error.relative)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
