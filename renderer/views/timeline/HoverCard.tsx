import { OUTER_STAGES } from '../../../app/trace/stages.ts'
import { FactList } from '../../controls/FactList.tsx'
import { useAnswer } from '../../state/use-answer.ts'
import { cardShift } from './card-shift.ts'
import { itemFacts, kernelFacts, spanFacts } from './facts.ts'
import type { HoveredItem } from './scene.ts'
import { useRested } from './use-rested.ts'

interface Props {
  readonly run: string
  readonly item: HoveredItem
  /** Where the places of spans in time come from, if they were not measured. */
  readonly placed: string | undefined
  /** What was written about it. */
  readonly note: string | undefined
  readonly x: number
  readonly y: number
  /** Size of the plot, so that the card stays inside. */
  readonly width: number
  readonly height: number
}

/** The columns of a span that tiles lack are asked for when the pointer rests on it. */
const REST_MS = 60

/** Exact numbers of what is under the pointer: all columns of a span, or what was merged. */
export const HoverCard = ({ run, item, placed, note, x, y, width, height }: Props) => {
  const isKernel = item.kernel !== undefined
  const rested = useRested(`${item.rank} ${item.startNs} ${isKernel}`, REST_MS)
  const single = item.count === 1 && !OUTER_STAGES.includes(item.stage) && rested
  const place = single ? { run, rank: item.rank, atNs: item.startNs } : null
  const { answer } = useAnswer('spanAt', isKernel ? null : place)
  const kernels = useAnswer('kernelAt', isKernel ? place : null)
  const kernel = kernels.answer?.data
  const exactKernel =
    kernel != null && kernel.startNs === item.startNs && kernels.answer?.params.rank === item.rank
  const span = answer?.data
  // The answer to an earlier question belongs to another span.
  const exact = span != null && span.startNs === item.startNs && answer?.params.rank === item.rank
  return (
    <div
      className="timeline-card"
      data-testid="timeline-card"
      style={{
        left: x,
        top: y,
        translate: cardShift(x, y, width, height),
      }}
    >
      <FactList
        facts={
          exactKernel
            ? kernelFacts(item.rank, kernel, placed)
            : exact
              ? spanFacts(item.rank, span, placed)
              : itemFacts(item, placed)
        }
      />
      {note === undefined ? null : <p className="timeline-card-note">{note}</p>}
    </div>
  )
}
