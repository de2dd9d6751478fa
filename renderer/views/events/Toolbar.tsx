import { EVENT_LEVELS, type EventLevel, KIND_WORDS, KINDS_OF } from '../../../app/events/words.ts'
import { EVENT_GROUPINGS, type RunInfo } from '../../../app/protocol/store.ts'
import { contextLens } from '../../../app/run/engine-config.ts'
import { measuredLayers } from '../../../app/run/shape.ts'
import { NumberField } from '../../controls/NumberField.tsx'
import { CloseIcon } from '../../shell/icons.tsx'
import { type EventControl, isNarrowed, NO_FILTER } from '../../state/events.ts'
import { useSelection } from '../../state/selection.ts'
import { filterOfSelection } from './model.ts'

const LEVEL_WORDS: Readonly<Record<EventLevel, string>> = { events: 'Events', rows: 'Rows' }
const LEVEL_TITLES: Readonly<Record<EventLevel, string>> = {
  events: 'One a kind and step, which names the first place and counts all (L)',
  rows: 'Every query row of every rank that is bad or has no keys, as the kernels returned it (L)',
}

interface PlacePickProps {
  readonly label: 'rank' | 'layer' | 'request'
  readonly count: number
  /** What -1 means; rows of partials always name a place. */
  readonly none: string | null
  readonly value: number | null
  readonly onPick: (value: number | null) => void
}

/** Above it a list would be too long to pick from. */
const MOST_OPTIONS = 128

const PlacePick = ({ label, count, none, value, onPick }: PlacePickProps) => {
  if (count > MOST_OPTIONS)
    return (
      <span className="events-pick">
        <NumberField
          label={label}
          value={value ?? 0}
          min={0}
          max={count - 1}
          digits={5}
          testId={`events-${label}`}
          invalid={value !== null && value >= count}
          onChange={(typed) => onPick(Number.isInteger(typed) && typed >= 0 ? typed : null)}
        />
        <button
          type="button"
          className="button button-quiet"
          aria-pressed={value === null}
          title={`Any ${label}`}
          onClick={() => onPick(null)}
        >
          any
        </button>
      </span>
    )
  return (
    <label className="events-pick">
      <span>{label}</span>
      <select
        className="input num"
        data-testid={`events-${label}`}
        value={value ?? ''}
        onChange={(event) => onPick(event.target.value === '' ? null : Number(event.target.value))}
      >
        <option value="">any</option>
        {none === null ? null : <option value={-1}>{none}</option>}
        {Array.from({ length: count }, (_, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: an option is its place
          <option key={place} value={place}>
            {place}
          </option>
        ))}
      </select>
    </label>
  )
}

/** What is listed, how it is grouped, and what is left out. */
export const Toolbar = ({ run, control }: { readonly run: RunInfo; readonly control: EventControl }) => {
  const { look, narrow, group } = control
  const { filter } = look
  const selection = useSelection()
  const { config } = run.manifest
  const [kind] = filter.kinds
  const isRows = filter.level === 'rows'
  const wanted = filterOfSelection(selection)
  const hasSelection = Object.values(wanted).some((part) => part !== null)
  return (
    <div className="toolbar events-toolbar" role="toolbar" aria-label="Events">
      <fieldset className="events-choice">
        <legend className="visually-hidden">What is listed</legend>
        {EVENT_LEVELS.map((level) => (
          <button
            key={level}
            type="button"
            className="button"
            aria-pressed={filter.level === level}
            title={LEVEL_TITLES[level]}
            data-testid={`events-level-${level}`}
            onClick={() => narrow({ level })}
          >
            {LEVEL_WORDS[level]}
          </button>
        ))}
      </fieldset>
      <label className="events-pick" title="What they are counted by (G)">
        <span>by</span>
        <select
          className="input"
          data-testid="events-by"
          value={look.by}
          onChange={(event) => {
            const by = EVENT_GROUPINGS.find((name) => name === event.target.value)
            if (by !== undefined) group(by)
          }}
        >
          {EVENT_GROUPINGS.map((by) => (
            <option key={by} value={by}>
              {by}
            </option>
          ))}
        </select>
      </label>
      <label className="events-pick">
        <span className="visually-hidden">kind</span>
        <select
          className="input events-kind"
          data-testid="events-kind"
          value={kind ?? ''}
          onChange={(event) => narrow({ kinds: event.target.value === '' ? [] : [event.target.value] })}
        >
          <option value="">any kind</option>
          {KINDS_OF[filter.level].map((name) => (
            <option key={name} value={name}>
              {KIND_WORDS[name]}
            </option>
          ))}
        </select>
      </label>
      <PlacePick
        label="rank"
        count={run.ranks}
        none={isRows ? null : 'none'}
        value={filter.rank}
        onPick={(rank) => narrow({ rank })}
      />
      <PlacePick
        label="layer"
        count={measuredLayers(config)}
        none={isRows ? null : 'none'}
        value={filter.layer}
        onPick={(layer) => narrow({ layer })}
      />
      <PlacePick
        label="request"
        count={contextLens(config).length}
        none={isRows ? null : 'none'}
        value={filter.request}
        onPick={(request) => narrow({ request })}
      />
      <button
        type="button"
        className="button"
        disabled={!hasSelection}
        title={
          hasSelection
            ? 'Only the selected step, layer, rank and request (S)'
            : 'Select a step, layer, rank or request first'
        }
        data-testid="events-of-selection"
        onClick={() => narrow(wanted)}
      >
        Selection
      </button>
      <button
        type="button"
        className="button button-quiet"
        disabled={!isNarrowed(filter)}
        title="Leave nothing out (Backspace)"
        data-testid="events-clear"
        onClick={() => narrow({ ...NO_FILTER, level: filter.level })}
      >
        <CloseIcon /> Show all
      </button>
    </div>
  )
}
