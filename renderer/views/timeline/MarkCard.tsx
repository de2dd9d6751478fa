import { kindMeans, kindWord } from '../../../app/events/words.ts'
import { FactList } from '../../controls/FactList.tsx'
import { formatInt } from '../../drawing/format.ts'
import { cardShift } from './card-shift.ts'
import type { EventMark } from './event-marks.ts'

interface Props {
  readonly mark: EventMark
  readonly x: number
  readonly y: number
  /** Size of the plot, so that the card stays inside. */
  readonly width: number
  readonly height: number
}

/** What happened at the mark under the pointer. */
export const MarkCard = ({ mark, x, y, width, height }: Props) => {
  const { kind, severity, count, step, layer, rank } = mark
  return (
    <div
      className="timeline-card"
      data-testid="timeline-mark-card"
      style={{ left: x, top: y, translate: cardShift(x, y, width, height) }}
    >
      <FactList
        facts={[
          { label: 'event', value: kindWord(kind) },
          { label: 'severity', value: severity },
          ...(count > 1 ? [{ label: 'here', value: formatInt(count) }] : []),
          { label: count > 1 ? 'from step' : 'step', value: formatInt(step) },
          { label: 'layer', value: layer < 0 ? 'whole step' : String(layer) },
          { label: 'rank', value: rank === null ? 'none' : String(rank) },
        ]}
      />
      <p className="timeline-card-note">{kindMeans(kind)}</p>
    </div>
  )
}
