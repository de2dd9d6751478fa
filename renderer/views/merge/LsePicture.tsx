import type { LseBase } from '../../../app/lse/base.ts'
import { useCanvas } from '../../drawing/canvas.ts'
import { useSelection } from '../../state/selection.ts'
import { useTheme } from '../../theme/use-theme.ts'
import { drawLse, rankAt } from './draw-lse.ts'
import type { MergeModel } from './model.ts'

/** Each rank's lse on one axis, and below it the bar of weights that they give. */
export const LsePicture = ({ model, base }: { readonly model: MergeModel; readonly base: LseBase }) => {
  const theme = useTheme()
  const { rank, select } = useSelection()
  const canvas = useCanvas(
    (ctx, width, height) => drawLse(ctx, width, height, theme, model, rank),
    [theme, model, rank],
  )
  const summary = model.ranks
    .filter((r) => r.weight > 0)
    .map((r) => `rank ${r.rank} ${(r.weight * 100).toFixed(1)} %`)
    .join(', ')
  return (
    <figure className="merge-lse">
      <figcaption>Log-sum-exp of each rank (base {base}) and the weights that it gives</figcaption>
      <canvas
        ref={canvas}
        role="img"
        data-testid="merge-lse-picture"
        aria-label={`Weights: ${summary === '' ? 'every rank is empty' : summary}`}
        onClick={(event) => {
          const { offsetX, offsetY } = event.nativeEvent
          const { clientWidth, clientHeight } = event.currentTarget
          const hit = rankAt(offsetX, offsetY, clientWidth, clientHeight, model, rank)
          if (hit !== null) select({ rank: hit === rank ? null : hit })
        }}
      />
    </figure>
  )
}
