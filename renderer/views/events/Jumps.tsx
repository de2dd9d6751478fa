import type { ComponentType } from 'react'
import { MergeIcon, OwnershipIcon, TimelineIcon } from '../../shell/icons.tsx'
import type { Selection } from '../../state/selection.ts'
import { jump, TARGET_WORDS, TARGETS, type Target } from './jumps.ts'

const ICONS: Readonly<Record<Target, ComponentType>> = {
  timeline: TimelineIcon,
  merge: MergeIcon,
  ownership: OwnershipIcon,
}

interface Props {
  readonly run: string
  readonly kind: string
  readonly place: Partial<Selection>
  readonly testId: string
  /** Only icons, in lists. */
  readonly small?: boolean
}

/** Ways to the same place in other views. */
export const Jumps = ({ run, kind, place, testId, small = false }: Props) => (
  <span className="events-jumps">
    {TARGETS.map((target) => {
      const Icon = ICONS[target]
      return (
        <button
          key={target}
          type="button"
          className={small ? 'button button-quiet events-jump' : 'button'}
          aria-label={TARGET_WORDS[target]}
          title={`Select it and show ${TARGET_WORDS[target]} (${TARGET_WORDS[target].charAt(0)})`}
          data-testid={`${testId}-${target}`}
          onClick={(event) => {
            event.stopPropagation()
            jump(run, target, kind, place)
          }}
        >
          {small ? <Icon /> : TARGET_WORDS[target]}
        </button>
      )
    })}
  </span>
)
