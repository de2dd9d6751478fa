import type { Selection } from '../../state/selection.ts'
import { jump, TARGET_WORDS, TARGETS } from './jumps.ts'

interface Props {
  readonly run: string
  readonly kind: string
  readonly place: Partial<Selection>
  readonly testId: string
}

/** Ways to the same place in other views. */
export const Jumps = ({ run, kind, place, testId }: Props) => (
  <span className="events-jumps">
    {TARGETS.map((target) => (
      <button
        key={target}
        type="button"
        className="button events-jump"
        title={`Select it and show ${TARGET_WORDS[target]} (${TARGET_WORDS[target].charAt(0)})`}
        data-testid={`${testId}-${target}`}
        onClick={(event) => {
          event.stopPropagation()
          jump(run, target, kind, place)
        }}
      >
        {TARGET_WORDS[target]}
      </button>
    ))}
  </span>
)
