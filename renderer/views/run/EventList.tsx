import type { StoreResult } from '../../../app/protocol/store.ts'
import { formatInt } from '../../drawing/format.ts'
import { useSelection } from '../../state/selection.ts'

type RunEvent = StoreResult<'events'>[number]

const TONES: ReadonlyMap<string, string> = new Map([
  ['warning', 'badge badge-warn'],
  ['error', 'badge badge-bad'],
])

const placeOf = ({ step, layer, rank, request }: RunEvent): string =>
  [
    `step ${formatInt(step)}`,
    ...(layer < 0 ? [] : [`layer ${layer}`]),
    ...(rank === null ? [] : [`rank ${rank}`]),
    ...(request === null ? [] : [`request ${request}`]),
  ].join(', ')

/** What the engine found worth a look; a click selects the place. */
export const EventList = ({ events }: { readonly events: readonly RunEvent[] }) => {
  const select = useSelection((s) => s.select)
  return (
    <ol className="events" data-testid="run-events">
      {events.map((event, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows have no state of their own
        <li key={i}>
          <button
            type="button"
            title={event.detail}
            onClick={() =>
              select({
                step: event.step,
                layer: event.layer < 0 ? null : event.layer,
                rank: event.rank,
                request: event.request,
                timeNs: event.timeNs,
              })
            }
          >
            <span className={TONES.get(event.severity) ?? 'badge'}>{event.severity}</span>
            <span className="event-message">{event.message}</span>
            <span className="event-place num">{placeOf(event)}</span>
          </button>
        </li>
      ))}
    </ol>
  )
}
