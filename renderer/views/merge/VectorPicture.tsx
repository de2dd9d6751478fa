import { useState } from 'react'
import { useCanvas } from '../../drawing/canvas.ts'
import { formatFloat } from '../../drawing/format.ts'
import { useSelection } from '../../state/selection.ts'
import { useTheme } from '../../theme/use-theme.ts'
import { drawVector, PLOT_EDGE, type VectorScene } from './draw-vector.ts'
import { type MergeInput, type MergeModel, shareOf } from './model.ts'
import { sciText } from './Verdicts.tsx'
import { entryAt } from './vector-plot.ts'

interface Props {
  readonly model: MergeModel
  readonly input: MergeInput
  readonly width: number
}

/** The merged vector over its truth, and below it the signed error of every value. */
export const VectorPicture = ({ model, input, width }: Props) => {
  const theme = useTheme()
  const rank = useSelection((s) => s.rank)
  const [entry, setEntry] = useState<number | null>(null)
  const truth = model.reference ?? model.recomputed
  const truthName = model.reference === null ? 'this merge' : 'reference'
  const part = rank === null ? undefined : model.ranks[rank]
  const share = part === undefined ? null : shareOf(input, width, part.rank, part.weight)
  const scene: VectorScene = {
    merged: model.merged,
    truth,
    truthName,
    share,
    rank: part?.rank ?? null,
    entry,
  }
  const canvas = useCanvas(
    (ctx, w, h) => drawVector(ctx, w, h, theme, scene),
    [theme, model, input, rank, entry],
  )
  return (
    <figure className="merge-vector">
      <figcaption>
        <span>
          Merged vector, kept by rank {model.mergedRank}, and its error against{' '}
          {model.reference === null ? 'this merge (the capture has no reference)' : 'the reference'}
        </span>
        <span className="num merge-note" data-testid="merge-entry">
          {entry === null ? 'point at a value' : entryText(model, truth, truthName, entry)}
        </span>
      </figcaption>
      <canvas
        ref={canvas}
        role="img"
        data-testid="merge-vector"
        aria-label={`${width} merged values with their error`}
        onPointerMove={(event) => {
          const plot = event.currentTarget.clientWidth - PLOT_EDGE.left - PLOT_EDGE.right
          setEntry(entryAt(event.nativeEvent.offsetX - PLOT_EDGE.left, plot, width))
        }}
        onPointerLeave={() => setEntry(null)}
      />
    </figure>
  )
}

const entryText = (model: MergeModel, truth: ArrayLike<number>, name: string, entry: number): string => {
  const merged = model.merged[entry] ?? Number.NaN
  const wanted = truth[entry] ?? Number.NaN
  const value = (x: number): string => (Number.isFinite(x) ? formatFloat(x, 6) : String(x))
  return `value ${entry}: merged ${value(merged)}, ${name} ${value(wanted)}, error ${sciText(merged - wanted)}`
}
