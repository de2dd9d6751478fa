import '../../controls/controls.css'
import './events.css'
import { useEffect } from 'react'
import { tabText } from '../../../app/messages/csv.ts'
import type { RunInfo } from '../../../app/protocol/store.ts'
import { NothingOfSweep } from '../../controls/NothingOfSweep.tsx'
import { formatInt } from '../../drawing/format.ts'
import { CopyButton } from '../../shell/CopyButton.tsx'
import { isNarrowed, NO_FILTER, useEventLook, useEventStore } from '../../state/events.ts'
import { useScenarios } from '../../state/scenarios.ts'
import { useSelection } from '../../state/selection.ts'
import { useSession } from '../../state/session.ts'
import { useView } from '../../state/view.ts'
import { keepZoom } from '../../state/zoom.ts'
import { CausePanel, kindOfCause, selectionOfCause } from './CausePanel.tsx'
import { DensityStrip } from './DensityStrip.tsx'
import { GroupList } from './GroupList.tsx'
import { jump, type Target } from './jumps.ts'
import { placeOf } from './model.ts'
import { RunNotes } from './RunNotes.tsx'
import { SaveButton } from './SaveButton.tsx'
import { eventSource, groupSource } from './sources.ts'
import { Toolbar } from './Toolbar.tsx'
import { eventTable, groupTable } from './table-text.ts'
import { useEvents } from './use-events.ts'
import { useEventsKeys } from './use-events-keys.ts'
import { useEventsInspector } from './use-inspector.ts'

const MOST_STEPS = 1_000_000_000

/** Links come from anywhere: what is no step of any run is none. */
const stepOf = (place: number): number | null =>
  Number.isInteger(place) && place >= 0 && place < MOST_STEPS ? place : null

// Places and links keep which steps are left, up to the one behind the last.
keepZoom('events', {
  read: (run) => {
    const { run: of, look } = useEventStore.getState()
    const { fromStep, toStep } = look.filter
    return of !== run || (fromStep === null && toStep === null)
      ? null
      : [fromStep ?? 0, (toStep ?? MOST_STEPS) + 1]
  },
  show: (run, zoom) => {
    const { run: of, look, change } = useEventStore.getState()
    const steps =
      zoom === null
        ? { fromStep: null, toStep: null }
        : { fromStep: stepOf(zoom[0]), toStep: stepOf(zoom[1] - 1) }
    change(run, { filter: { ...(of === run ? look.filter : NO_FILTER), ...steps }, from: 0, event: null })
  },
})

/** A known failure in which NaN of one rank spreads to merged rows. */
const SAMPLE = 'empty-row-not-neutralised-nan'

const NoRun = ({ opening }: { readonly opening: boolean }) => {
  const show = useView((s) => s.show)
  return (
    <div className="empty-state" data-testid="events-no-run">
      <p>
        {opening
          ? 'The run begins; what is worth a look will stand here.'
          : 'No run is open. NaN, Inf, rows without keys and wrong merged rows of a run are listed here, with the rank, layer and step where they began.'}
      </p>
      {opening ? null : (
        <div className="events-choices">
          <button
            type="button"
            className="button button-primary"
            data-testid="events-sample"
            onClick={() => {
              useScenarios.getState().pick(SAMPLE)
              show('scenarios')
            }}
          >
            Go to a failure that makes NaN
          </button>
          <button type="button" className="button" onClick={() => show('run')}>
            Go to Run
          </button>
        </div>
      )}
    </div>
  )
}

/** What a run says is worth a look: where bad values began, how they spread, and every event, counted, filtered and listed. */
export const EventsView = () => {
  const open = useSession((s) => s.openRun)
  const opening = useSession((s) => s.openId !== null)
  if (open === null) return <NoRun opening={opening} />
  if (open.manifest.sweep !== undefined) return <NothingOfSweep lacks="no events" />
  return <OfRun key={open.id} run={open} />
}

const OfRun = ({ run }: { readonly run: RunInfo }) => {
  const control = useEventLook(run.id)
  const { look, narrow, change } = control
  const { groups, density, cause, rows, loading, error, again } = useEvents(run, look)
  const here = look.event === null ? null : (rows?.[look.event - look.from] ?? null)
  useEventsInspector(here)
  useEffect(() => {
    if (!look.picks || here === null) return
    useSelection.getState().select(placeOf(here))
    change({ picks: false })
  }, [look.picks, here, change])
  const causePlace = cause === null ? null : selectionOfCause(cause)
  useEventsKeys({
    control,
    groups: groups?.list ?? [],
    go: (target: Target) => {
      const place = here === null ? causePlace : placeOf(here)
      if (place === null) return false
      jump(run.id, target, here?.kind ?? (cause === null ? '' : kindOfCause(cause)), place)
      return true
    },
    selectCause: () => {
      if (causePlace === null) return false
      useSelection.getState().select(causePlace)
      return true
    },
  })
  const openGroup = groups?.list.find(({ key }) => key === look.open)
  const table =
    groups === null
      ? null
      : look.open !== null && rows !== null
        ? eventTable(rows)
        : groupTable(look.by, groups.list)
  return (
    <section className="events-view" aria-label="Events" aria-busy={loading}>
      <Toolbar run={run} control={control} />
      {error === null ? null : (
        <p className="events-error" role="alert">
          {error}{' '}
          <button type="button" className="button" onClick={again}>
            Try again
          </button>
        </p>
      )}
      {density === null ? null : (
        <DensityStrip
          density={density}
          filter={look.filter}
          onRange={(fromStep, toStep) => narrow({ fromStep, toStep })}
        />
      )}
      <div className="events-body">
        <div className="events-side">
          {cause === null ? null : <CausePanel run={run} found={cause} />}
          <RunNotes run={run} />
        </div>
        <section className="events-main" aria-label="List">
          <div className="events-main-head">
            <h3>
              {look.filter.level === 'rows' ? 'Rows of partials' : 'Events'}{' '}
              <span className="events-note num" data-testid="events-total">
                {groups === null ? '' : formatInt(groups.total)}
              </span>
            </h3>
            {table === null || table.rows.length === 0 ? null : (
              <CopyButton
                text={tabText(table)}
                what={look.open === null ? 'the groups' : 'the listed events'}
                label="Copy"
                className="button button-quiet"
                testId="events-copy"
              />
            )}
            {groups === null || groups.list.length === 0 ? null : (
              <SaveButton
                source={
                  openGroup === undefined
                    ? groupSource(look.by, groups.list)
                    : eventSource(run.id, look, openGroup)
                }
              />
            )}
          </div>
          {groups === null ? (
            <p className="events-note">{error === null ? 'Reading the events …' : ''}</p>
          ) : groups.list.length === 0 ? (
            <div className="events-none" data-testid="events-none">
              <p>
                {isNarrowed(look.filter)
                  ? 'Nothing fits what is asked for.'
                  : look.filter.level === 'rows'
                    ? 'All rows of partials have keys and finite values.'
                    : 'The run noticed nothing worth a look.'}
              </p>
              {isNarrowed(look.filter) ? (
                <button
                  type="button"
                  className="button"
                  onClick={() => narrow({ ...NO_FILTER, level: look.filter.level })}
                >
                  Show all
                </button>
              ) : look.filter.level === 'events' ? (
                <button
                  type="button"
                  className="button"
                  onClick={() => change({ filter: { ...NO_FILTER, level: 'rows' } })}
                >
                  Look at rows of partials
                </button>
              ) : null}
            </div>
          ) : (
            <GroupList run={run.id} groups={groups} rows={rows} control={control} />
          )}
        </section>
      </div>
    </section>
  )
}
