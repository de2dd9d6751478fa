import { useEffect, useRef } from 'react'
import { kindMeans, kindWord } from '../../../app/events/words.ts'
import { MAX_EVENT_GROUPS, type StoreResult } from '../../../app/protocol/store.ts'
import { RankChip } from '../../controls/RankChip.tsx'
import { formatInt } from '../../drawing/format.ts'
import { useTableSource } from '../../export/table-source.ts'
import { DownIcon, NextIcon, PreviousIcon } from '../../shell/icons.tsx'
import type { EventControl, GroupKey } from '../../state/events.ts'
import { useSelection } from '../../state/selection.ts'
import { Jumps } from './Jumps.tsx'
import { KindSpread } from './KindSpread.tsx'
import {
  type EventGroup,
  type EventRow,
  groupWord,
  PAGE,
  pageText,
  placeOf,
  SEVERITY_TONES,
  stepsText,
} from './model.ts'
import { eventSource, groupSource } from './sources.ts'

/** Scrolls to what the cursor is on, as keys move it. */
const useSeen = <E extends HTMLElement>(isHere: boolean) => {
  const ref = useRef<E>(null)
  useEffect(() => {
    if (isHere) ref.current?.scrollIntoView({ block: 'nearest' })
  }, [isHere])
  return ref
}

interface Props {
  readonly run: string
  readonly groups: StoreResult<'eventGroups'>
  readonly rows: readonly EventRow[] | null
  readonly control: EventControl
}

/** The groups with their counts, and the events of the one that is open, a page at a time. */
export const GroupList = ({ run, groups, rows, control }: Props) => {
  const { look, change } = control
  const { name, read } = groupSource(look.by, groups.list)
  const table = useTableSource(name, read)
  const open = (key: GroupKey): void =>
    change({ open: look.open === key ? null : key, from: 0, event: null, group: key })
  return (
    <>
      <table ref={table} className="events-table" data-testid="events-groups">
        <thead>
          <tr>
            <th scope="col">{look.by}</th>
            <th scope="col">worst</th>
            <th scope="col" className="events-number">
              count
            </th>
            <th scope="col">where</th>
          </tr>
        </thead>
        {groups.list.map((group) => (
          <Group
            key={group.key}
            group={group}
            control={control}
            onOpen={() => open(group.key)}
            rows={look.open === group.key ? rows : null}
            run={run}
          />
        ))}
      </table>
      {groups.groups > groups.list.length ? (
        <p className="events-note events-more">
          The first {formatInt(MAX_EVENT_GROUPS)} of {formatInt(groups.groups)} are listed; filter to see
          others.
        </p>
      ) : null}
    </>
  )
}

interface GroupProps {
  readonly run: string
  readonly group: EventGroup
  readonly control: EventControl
  readonly rows: readonly EventRow[] | null
  readonly onOpen: () => void
}

const Group = ({ run, group, control, rows, onOpen }: GroupProps) => {
  const { look } = control
  const isOpen = look.open === group.key
  const isHere = look.group === group.key && look.event === null
  const ref = useSeen<HTMLTableRowElement>(isHere)
  const means = look.by === 'kind' ? kindMeans(String(group.key)) : ''
  return (
    <tbody>
      <tr
        ref={ref}
        className={isHere ? 'events-group events-here' : 'events-group'}
        data-testid={`events-group-${group.key}`}
        onClick={onOpen}
      >
        <th scope="row">
          <button
            type="button"
            className="events-open"
            aria-expanded={isOpen}
            title={`${isOpen ? 'Close it' : 'List them'} (${isOpen ? '←' : '→'})`}
          >
            {isOpen ? <DownIcon /> : <NextIcon />}
            {look.by === 'rank' && Number(group.key) >= 0 ? <RankChip rank={Number(group.key)} /> : null}
            {groupWord(look.by, group.key)}
          </button>
        </th>
        <td>
          <span className={SEVERITY_TONES[group.severity]}>{group.severity}</span>
        </td>
        <td className="num events-number" data-testid="events-count" data-value={group.count}>
          {formatInt(group.count)}
        </td>
        <td className="events-where num">{stepsText(group)}</td>
      </tr>
      {isOpen ? (
        <tr className="events-inner">
          <td colSpan={4}>
            {means === '' ? null : <p className="events-note">{means}</p>}
            {look.by === 'kind' ? <KindSpread run={run} kind={group} control={control} /> : null}
            <EventPage run={run} group={group} rows={rows} control={control} />
          </td>
        </tr>
      ) : null}
    </tbody>
  )
}

const EventPage = ({ run, group, rows, control }: Pick<GroupProps, 'run' | 'group' | 'rows' | 'control'>) => {
  const { look, change } = control
  const isRows = look.filter.level === 'rows'
  const go = (from: number): void => change({ from, event: null })
  const { name, read } = eventSource(run, look, group)
  const table = useTableSource(name, read)
  return (
    <>
      <table
        ref={table}
        className="events-list"
        aria-label={groupWord(look.by, group.key)}
        data-testid="events-list"
      >
        <thead>
          <tr>
            <th scope="col" className="events-number">
              step
            </th>
            <th scope="col" className="events-number">
              layer
            </th>
            <th scope="col" title={isRows ? undefined : 'The first place; it counts those of all'}>
              rank
            </th>
            <th scope="col" className="events-number">
              request
            </th>
            <th scope="col" className="events-number" title="Query row of the request">
              query
            </th>
            <th scope="col">what</th>
            <th scope="col">
              <span className="visually-hidden">ways to other views</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {(rows ?? []).map((row, i) => (
            <Event
              // biome-ignore lint/suspicious/noArrayIndexKey: rows have no state of their own
              key={look.from + i}
              run={run}
              row={row}
              place={look.from + i}
              group={group}
              control={control}
            />
          ))}
        </tbody>
      </table>
      {rows === null ? <p className="events-note">Reading …</p> : null}
      {group.count > PAGE ? (
        <div className="events-pages">
          <button
            type="button"
            className="button button-icon"
            aria-label="Previous page"
            title="Previous page (Page up)"
            disabled={look.from === 0}
            onClick={() => go(Math.max(0, look.from - PAGE))}
          >
            <PreviousIcon />
          </button>
          <span className="num" data-testid="events-page">
            {pageText(look.from, Math.min(PAGE, Math.max(0, group.count - look.from)), group.count)}
          </span>
          <button
            type="button"
            className="button button-icon"
            aria-label="Next page"
            title="Next page (Page down)"
            disabled={look.from + PAGE >= group.count}
            data-testid="events-next-page"
            onClick={() => go(look.from + PAGE)}
          >
            <NextIcon />
          </button>
        </div>
      ) : null}
    </>
  )
}

interface EventProps {
  readonly run: string
  readonly row: EventRow
  readonly place: number
  readonly group: EventGroup
  readonly control: EventControl
}

const Event = ({ run, row, place, group, control: { look, change } }: EventProps) => {
  const isHere = look.group === group.key && look.event === place
  const ref = useSeen<HTMLTableRowElement>(isHere)
  const select = useSelection((s) => s.select)
  const number = (value: number | null): string => (value === null || value < 0 ? '–' : formatInt(value))
  return (
    <tr
      ref={ref}
      className={isHere ? 'events-event events-here' : 'events-event'}
      data-testid="events-event"
      onClick={() => {
        change({ group: group.key, event: place })
        select(placeOf(row))
      }}
    >
      <td className="num events-number">
        <button
          type="button"
          className="events-pick-event num"
          aria-pressed={isHere}
          aria-label={`Select step ${row.step}: ${row.message}`}
        >
          {formatInt(row.step)}
        </button>
      </td>
      <td className="num events-number">{number(row.layer)}</td>
      <td>{row.rank === null ? '–' : <RankChip rank={row.rank} />}</td>
      <td className="num events-number">{number(row.request)}</td>
      <td className="num events-number">{number(row.qIndex)}</td>
      <td className="events-what" title={row.message}>
        {look.by === 'kind' ? null : <b>{kindWord(row.kind)}: </b>}
        {row.message}
      </td>
      <td>
        <Jumps run={run} kind={row.kind} place={placeOf(row)} testId="event" small />
      </td>
    </tr>
  )
}
