import { useEffect, useState } from 'react'
import type { EventFilter, RunInfo, StoreResult } from '../../../app/protocol/store.ts'
import type { EventLook } from '../../state/events.ts'
import { useAnswer } from '../../state/use-answer.ts'
import { DENSITY_PARTS, type Density } from './density.ts'
import { CAUSE_PARTS, type FirstCause } from './grid.ts'
import { type EventRow, filterOfGroup, PAGE } from './model.ts'

export interface Events {
  readonly groups: StoreResult<'eventGroups'> | null
  readonly density: Density | null
  readonly cause: FirstCause | null
  /** Of the open group; null while they are not those. */
  readonly rows: readonly EventRow[] | null
  readonly loading: boolean
  readonly error: string | null
  /** Asks for everything again. */
  readonly again: () => void
}

const same = (a: EventFilter, b: EventFilter): boolean => JSON.stringify(a) === JSON.stringify(b)

/**
 * What the view shows of the open run. While the run goes on it is asked for again with new steps, but only once the answers
 * are there: a question that takes long would never be answered otherwise.
 */
export const useEvents = ({ id: run, steps, manifest }: RunInfo, look: EventLook): Events => {
  const now = `${steps} ${manifest.status}`
  const [asked, setAsked] = useState(now)
  const [tries, setTries] = useState(0)
  const tick = `${asked} ${tries}`
  const { filter, by, open, from } = look
  const wanted = open === null ? null : filterOfGroup(filter, by, open)
  const groups = useAnswer('eventGroups', { run, filter, by }, tick)
  const density = useAnswer(
    'eventDensity',
    { run, filter: { ...filter, fromStep: null, toStep: null }, buckets: DENSITY_PARTS },
    tick,
  )
  const cause = useAnswer('firstCause', { run, buckets: CAUSE_PARTS }, tick)
  const rows = useAnswer('eventRows', wanted === null ? null : { run, filter: wanted, from, max: PAGE }, tick)
  const loading = groups.loading || density.loading || cause.loading || rows.loading
  useEffect(() => {
    if (!loading) setAsked(now)
  }, [loading, now])
  const isOpen =
    wanted !== null &&
    rows.answer !== null &&
    same(rows.answer.params.filter, wanted) &&
    rows.answer.params.from === from
  const ofBy = groups.answer?.params.by === by && groups.answer.params.filter.level === filter.level
  return {
    groups: ofBy ? (groups.answer?.data ?? null) : null,
    density: density.answer?.data ?? null,
    cause: cause.answer?.data ?? null,
    rows: isOpen ? (rows.answer?.data ?? null) : null,
    loading,
    error: groups.error ?? density.error ?? cause.error ?? rows.error,
    again: () => setTries((n) => n + 1),
  }
}
