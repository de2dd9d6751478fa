import { LSE_BASES, type LseBase } from '../../../app/lse/base.ts'
import { useCanvas } from '../../drawing/canvas.ts'
import { useSelection } from '../../state/selection.ts'
import { useTheme } from '../../theme/use-theme.ts'
import { drawLse, rankAt } from './draw-lse.ts'
import { useMergeLook } from './look.ts'
import type { MergeModel } from './model.ts'

interface Props {
  readonly model: MergeModel
  /** Base in which lse are shown, and that of the capture. */
  readonly base: LseBase
  readonly own: LseBase
}

/** Each rank's lse on one axis, and below it the bar of weights that they give. */
export const LsePicture = ({ model, base, own }: Props) => {
  const showBase = useMergeLook((s) => s.showBase)
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
      <figcaption>
        <span>Log-sum-exp of each rank, and its weight</span>
        <fieldset className="merge-parts" aria-label="Base in which lse are shown">
          {LSE_BASES.map((one) => (
            <button
              key={one}
              type="button"
              className="button"
              title={`Show lse in base ${one} (B switches)${one === own ? '; the kernel returns this one' : ''}`}
              aria-pressed={base === one}
              data-testid={`merge-base-${one}`}
              onClick={() => showBase(one)}
            >
              base {one}
            </button>
          ))}
        </fieldset>
      </figcaption>
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
