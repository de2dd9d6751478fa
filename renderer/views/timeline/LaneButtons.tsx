import {
  FIRST_ARRANGEMENT,
  isArranged,
  laneOrder,
  movedBy,
  toggleFolded,
  togglePinned,
} from './arrangement.ts'
import type { ArrangementControl } from './use-arrangement.ts'

interface Props {
  readonly rank: number
  readonly ranks: number
  readonly control: ArrangementControl
}

/** What can be done to the lane of the selected rank: what a drag of its name does, and more. */
export const LaneButtons = ({ rank, ranks, control: { arrangement, change } }: Props) => {
  const order = laneOrder(arrangement, ranks)
  const isPinned = arrangement.pinned.includes(rank)
  const moves = (by: 1 | -1): boolean =>
    laneOrder(movedBy(arrangement, ranks, rank, by), ranks).join() !== order.join()
  return (
    <fieldset className="timeline-lane" data-testid="timeline-lane">
      <legend className="visually-hidden">Lane of rank {rank}</legend>
      <button
        type="button"
        className="button"
        aria-pressed={isPinned}
        title={isPinned ? 'Let the lane scroll again (Shift+T)' : 'Keep the lane at the top (Shift+T)'}
        data-testid="timeline-pin"
        onClick={() => change((now) => togglePinned(now, rank))}
      >
        Pin
      </button>
      <button
        type="button"
        className="button"
        aria-pressed={arrangement.folded.includes(rank)}
        title="Fold the lane to its graph replays and a line of stages (G; Shift+G: all lanes)"
        data-testid="timeline-fold"
        onClick={() => change((now) => toggleFolded(now, rank))}
      >
        Fold
      </button>
      {([-1, 1] as const).map((by) => (
        <button
          key={by}
          type="button"
          className="button button-icon"
          aria-label={by < 0 ? 'Move the lane up' : 'Move the lane down'}
          title={
            by < 0
              ? 'Move the lane up (Shift+↑, or drag its name)'
              : 'Move the lane down (Shift+↓, or drag its name)'
          }
          disabled={!moves(by)}
          data-testid={by < 0 ? 'timeline-lane-up' : 'timeline-lane-down'}
          onClick={() => change((now) => movedBy(now, ranks, rank, by))}
        >
          {by < 0 ? '↑' : '↓'}
        </button>
      ))}
      {isArranged(arrangement, ranks) ? (
        <button
          type="button"
          className="button button-quiet"
          title="All lanes in the order of the ranks, none pinned or folded"
          data-testid="timeline-lanes-reset"
          onClick={() => change(() => FIRST_ARRANGEMENT)}
        >
          Reset lanes
        </button>
      ) : null}
    </fieldset>
  )
}
