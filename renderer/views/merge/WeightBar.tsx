import { rankColour } from '../../theme/colours.ts'
import { useTheme } from '../../theme/use-theme.ts'

/** Weights of the ranks as one bar, in their order; what they sum to is its length, cut off at 1. */
export const WeightBar = ({ weights }: { readonly weights: ArrayLike<number> }) => {
  const theme = useTheme()
  const text = Array.from(weights, (weight, rank) => `rank ${rank} ${(100 * weight).toFixed(1)} %`).join(', ')
  return (
    <span className="merge-weights" role="img" aria-label={text} title={text}>
      {Array.from(weights, (weight, rank) => (
        <span
          // biome-ignore lint/suspicious/noArrayIndexKey: the place is the rank
          key={rank}
          style={{ width: `${100 * Math.max(0, weight)}%`, background: rankColour(rank, theme) }}
        />
      ))}
    </span>
  )
}
