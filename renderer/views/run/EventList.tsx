import { memo } from 'react'
import type { StoreResult } from '../../../app/protocol/store.ts'
import { formatInt } from '../../drawing/format.ts'
import { useDump } from '../../state/dump.ts'
import { useSelection } from '../../state/selection.ts'
import { useSession } from '../../state/session.ts'
import { useView } from '../../state/view.ts'

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

const select = ({ step, layer, rank, request, timeNs }: RunEvent): void =>
  useSelection.getState().select({ step, layer: layer < 0 ? null : layer, rank, request, timeNs })

/** What the engine found worth a look; a click selects the place, and where its tensors were kept one looks into them. */
export const EventList = memo(({ events }: { readonly events: readonly RunEvent[] }) => {
  const captures = useSession((s) => s.openRun?.captures)
  const show = useView((s) => s.show)
  const kept = ({ step, layer }: RunEvent): boolean =>
    captures?.some((one) => one.step === step && (layer < 0 || one.layer === layer)) === true
  return (
    <ol className="events" data-testid="run-events">
      {events.map((event, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows have no state of their own
        <li key={i}>
          <button type="button" title={event.detail} onClick={() => select(event)}>
            <span className={TONES.get(event.severity) ?? 'badge'}>{event.severity}</span>
            <span className="event-message">{event.message}</span>
            <span className="event-place num">{placeOf(event)}</span>
          </button>
          {kept(event) ? (
            <button
              type="button"
              className="button event-jump"
              title="The tensors of this place in Post-mortem"
              onClick={() => {
                select(event)
                useDump.getState().show(null)
                useDump.getState().look('tensors')
                show('postmortem')
              }}
            >
              Tensors
            </button>
          ) : null}
        </li>
      ))}
    </ol>
  )
})
