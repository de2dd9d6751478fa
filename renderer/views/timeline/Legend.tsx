import { memo } from 'react'
import { OUTER_STAGES, type Stage } from '../../../app/trace/stages.ts'
import { SourceBadge } from '../../controls/SourceBadge.tsx'
import { formatPercent } from '../../drawing/format.ts'
import { stageColour } from '../../theme/colours.ts'
import { useTheme } from '../../theme/use-theme.ts'

export interface LegendStage {
  readonly stage: Stage
  readonly share: number
  readonly waitShare: number
  /** Where its durations come from, if they were not measured. */
  readonly source: string | undefined
}

interface Props {
  readonly stages: readonly LegendStage[]
  readonly dimmed: ReadonlySet<Stage>
  readonly toggle: (stage: Stage) => void
}

const isOuter = (stage: Stage): boolean => OUTER_STAGES.includes(stage)

/** The stages of the run with their share of the ranks' time; a click dims one. */
export const Legend = memo(({ stages, dimmed, toggle }: Props) => {
  const theme = useTheme()
  return (
    <fieldset className="timeline-legend" aria-label="Stages">
      {stages.map(({ stage, share, waitShare, source }) => (
        <button
          key={stage}
          type="button"
          className="timeline-stage"
          aria-pressed={!dimmed.has(stage)}
          title={`${stage}: ${isOuter(stage) ? 'contains the others, on the row above them' : `${formatPercent(share)} of the ranks' time`}${waitShare > 0 ? `, ${formatPercent(waitShare)} of it waiting` : ''}${source === undefined ? '' : `, ${source}`}. Click to ${dimmed.has(stage) ? 'show' : 'dim'}.`}
          onClick={() => toggle(stage)}
        >
          <span className="timeline-swatch" style={{ background: stageColour(stage, theme) }} />
          {stage}
          {isOuter(stage) ? null : <span className="num">{formatPercent(share)}</span>}
          <SourceBadge source={source} />
        </button>
      ))}
      {stages.some((s) => s.waitShare > 0) ? (
        <span className="timeline-stage timeline-waiting">
          <span className="timeline-swatch timeline-hatch" />
          waiting for a rank
        </span>
      ) : null}
    </fieldset>
  )
})
