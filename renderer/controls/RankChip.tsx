import { rankColour, rankInk } from '../theme/colours.ts'
import { useTheme } from '../theme/use-theme.ts'

/** A rank's number on its colour. */
export const RankChip = ({ rank }: { readonly rank: number }) => {
  const theme = useTheme()
  return (
    <span
      className="rank-chip"
      style={{ background: rankColour(rank, theme), color: rankInk(rank, theme) }}
      title={`rank ${rank}`}
    >
      {rank}
    </span>
  )
}
