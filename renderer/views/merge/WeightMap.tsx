import { useMemo } from 'react'
import type { StoreParams } from '../../../app/protocol/store.ts'
import { formatPercent } from '../../drawing/format.ts'
import { useAnswer } from '../../state/use-answer.ts'
import { useTheme } from '../../theme/use-theme.ts'
import { drawWeights } from './draw-weights.ts'
import type { CaptureShape } from './model.ts'
import { type MapCell, RowHeadMap } from './RowHeadMap.tsx'
import { WeightBar } from './WeightBar.tsx'
import { heaviest, meanWeights, type Weights, weightsOf } from './weights.ts'

interface Props {
  readonly params: StoreParams<'captureLse'>
  readonly capture: CaptureShape
  readonly picked: MapCell
}

/** The weights of all ranks in every row and head, and on which rank the mass of all of them lies. */
export const WeightMap = ({ params, capture, picked }: Props) => {
  const theme = useTheme()
  const { answer, error } = useAnswer('captureLse', params)
  const lse = answer !== null && isSame(answer.params, params) ? answer.data.lse : null
  const weights = useMemo(() => (lse === null ? null : weightsOf(lse, capture)), [lse, capture])
  if (weights === null)
    return (
      <p className="merge-quiet" role={error === null ? 'status' : 'alert'}>
        {error ?? 'Reading the lse of every row and head …'}
      </p>
    )
  return (
    <>
      <RowHeadMap
        capture={capture}
        picked={picked}
        draw={(ctx, width, height) => drawWeights(ctx, width, height, theme, capture, weights, picked)}
        deps={[theme, capture, weights, picked.row, picked.head]}
        testId="merge-weights"
        label={`Weights of ${capture.ranks} ranks in ${capture.rows} rows and ${capture.heads} heads; arrow keys move the picked one`}
        note={(cell) => massText(weights, cell)}
      />
      <p className="merge-mass" data-testid="merge-mass">
        <span className="merge-note">all rows and heads</span>
        <WeightBar weights={meanWeights(weights)} />
      </p>
    </>
  )
}

const isSame = (a: Props['params'], b: Props['params']): boolean =>
  a.run === b.run && a.step === b.step && a.layer === b.layer

/** Where the mass of a row and head sits. */
const massText = (weights: Weights, { row, head }: MapCell): string => {
  const most = heaviest(weights, row, head)
  const nan = weights.isNan[row * weights.heads + head] === 1 ? ', lse NaN on a rank' : ''
  return most === null
    ? `no rank has a key${nan}`
    : `most from rank ${most.rank}, ${formatPercent(most.weight)}${nan}`
}
