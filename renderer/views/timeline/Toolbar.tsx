import type { ReactNode } from 'react'
import type { Caveats } from '../../../app/trace/caveat.ts'
import { CaveatNote } from '../../controls/CaveatNote.tsx'
import { formatNs } from '../../drawing/format.ts'
import { placedSource } from '../../drawing/provenance.ts'
import { CopyButton } from '../../shell/CopyButton.tsx'
import { type Measure, measureText } from './measure.ts'
import type { TimeRange } from './range.ts'
import { timeText } from './ticks.ts'
import type { RangeControl } from './use-range.ts'

interface Props {
  readonly control: RangeControl
  readonly live: boolean
  readonly loading: boolean
  /** The selected step where it is out of sight. */
  readonly hiddenStep: { readonly step: number; readonly part: TimeRange } | null
  /** What can be done to the lane of the selected rank. */
  readonly lane: ReactNode
  /** Between the last two marks. */
  readonly measure: Measure | undefined
  readonly onUnmark: () => void
  /** Of the run that is shown. */
  readonly manifest: Caveats
}

export const Toolbar = ({ control, live, loading, hiddenStep, lane, measure, onUnmark, manifest }: Props) => {
  const { range } = control
  return (
    <div className="toolbar timeline-toolbar" role="toolbar" aria-label="Timeline">
      <button
        type="button"
        className="button"
        aria-label="Zoom out"
        title="Zoom out (S)"
        onClick={() => control.zoom(1 / 2)}
      >
        −
      </button>
      <button
        type="button"
        className="button"
        aria-label="Zoom in"
        title="Zoom in (W)"
        onClick={() => control.zoom(2)}
      >
        +
      </button>
      <button
        type="button"
        className="button"
        title="Show the whole run (0)"
        data-testid="timeline-fit"
        onClick={control.fit}
      >
        Fit
      </button>
      {live ? (
        <button
          type="button"
          className="button"
          aria-pressed={control.follow}
          title="Keep the newest steps in view"
          data-testid="timeline-follow"
          onClick={() => control.setFollow(!control.follow)}
        >
          Follow
        </button>
      ) : null}
      {hiddenStep === null ? null : (
        <button
          type="button"
          className="button"
          data-testid="timeline-show-step"
          title="Bring the selected step into view"
          onClick={() => control.reveal(hiddenStep.part)}
        >
          Show step {hiddenStep.step}
        </button>
      )}
      <span
        className="timeline-range"
        data-testid="timeline-range"
        data-start={range.startNs}
        data-end={range.endNs}
      >
        <span className="num">{timeText(range.startNs, range)}</span> to{' '}
        <span className="num">{timeText(range.endNs, range)}</span>
        <span className="quiet"> ({formatNs(range.endNs - range.startNs)})</span>
      </span>
      {measure === undefined ? null : (
        <span className="timeline-measure" data-testid="timeline-measure">
          measured <span className="num">{formatNs(measure.toNs - measure.fromNs)}</span>
          <CopyButton text={measureText(measure, placedSource(manifest))} what="the measured time (C)" />
          <button
            type="button"
            className="button button-quiet button-icon"
            aria-label="Take the marks away"
            title="Take the marks away (Shift+M)"
            data-testid="timeline-unmark"
            onClick={onUnmark}
          >
            ×
          </button>
        </span>
      )}
      {lane}
      <CaveatNote manifest={manifest} />
      <span className="timeline-loading quiet" role="status">
        {loading ? 'loading' : ''}
      </span>
    </div>
  )
}
