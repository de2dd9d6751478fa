import type { EventFilter, RunInfo } from '../../../app/protocol/store.ts'
import { formatInt } from '../../drawing/format.ts'
import type { EventControl } from '../../state/events.ts'
import { useSelection } from '../../state/selection.ts'
import { useAnswer } from '../../state/use-answer.ts'
import { type EventGroup, filterOfGroup, groupWord, placeOf, placeText } from './model.ts'
import { sharesOf } from './spread.ts'

interface Props {
  readonly run: RunInfo['id']
  readonly kind: EventGroup
  readonly control: EventControl
}

/** Where one kind of event began, and how it is spread over ranks and layers; a bar narrows the list to it. */
export const KindSpread = ({ run, kind, control }: Props) => {
  const filter = filterOfGroup(control.look.filter, 'kind', kind.key)
  // A run that goes on has more of them.
  const again = String(kind.count)
  const first = useAnswer('eventRows', { run, filter, from: 0, max: 1 }, again)
  const [row] = first.answer?.data ?? []
  return (
    <div className="events-spread" data-testid="events-spread">
      {row === undefined ? null : (
        <p className="selectable">
          First at {placeText(row)}.{' '}
          <button
            type="button"
            className="button"
            data-testid="events-first"
            title="Select the first one in all views"
            onClick={() => useSelection.getState().select(placeOf(row))}
          >
            Select the first
          </button>
        </p>
      )}
      <Spread run={run} filter={filter} by="rank" again={again} control={control} />
      <Spread run={run} filter={filter} by="layer" again={again} control={control} />
    </div>
  )
}

interface SpreadProps {
  readonly run: RunInfo['id']
  readonly filter: EventFilter
  readonly by: 'rank' | 'layer'
  readonly again: string
  readonly control: EventControl
}

const Spread = ({ run, filter, by, again, control }: SpreadProps) => {
  const { answer } = useAnswer('eventGroups', { run, filter, by }, again)
  const shares = sharesOf(answer?.data.list ?? [])
  return shares.length < 2 ? null : (
    <ul aria-label={`By ${by}`} data-testid={`events-spread-${by}`}>
      {shares.map(({ key, count, share, firstStep }) => (
        <li key={key}>
          <button
            type="button"
            title={`${formatInt(count)}, first at step ${formatInt(firstStep)}; click to leave only these`}
            onClick={() => control.narrow({ [by]: Number(key) })}
          >
            <span>{groupWord(by, key)}</span>
            <span className="events-spread-bar">
              <span style={{ width: `${100 * share}%` }} />
            </span>
            <span className="num">{formatInt(count)}</span>
          </button>
        </li>
      ))}
    </ul>
  )
}
