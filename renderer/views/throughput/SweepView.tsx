import { useEffect, useMemo } from 'react'
import type { RunInfo } from '../../../app/protocol/store.ts'
import type { SweepManifest } from '../../../app/sweep/manifest.ts'
import { publishedPairs, publishedRates } from '../../../app/sweep/overlay.ts'
import { arrangementName, otherAxis, type Spot } from '../../../app/sweep/spots.ts'
import { summarise } from '../../../app/sweep/summary.ts'
import { useSelection } from '../../state/selection.ts'
import { useSession } from '../../state/session.ts'
import { CellTable } from './CellTable.tsx'
import { GainMap } from './GainMap.tsx'
import { firstLook, type LookControl, useLook } from './look.ts'
import { MeasureBar } from './MeasureBar.tsx'
import { cellRows, heldOf, modelOf, pickedRow, progressOf, type SweepModel } from './model.ts'
import { Pictures } from './Pictures.tsx'
import { PublishedList } from './Published.tsx'
import { ProgressNote, Summary } from './Summary.tsx'
import { groupSource } from './source.ts'
import { Toolbar } from './Toolbar.tsx'
import { useThroughputInspector } from './use-inspector.ts'
import { type Points, usePoints } from './use-points.ts'
import { useSweepKeys } from './use-sweep-keys.ts'

/** The same function at every drawing, so that only cells that change are drawn. */
const selectCell = (context: number, concurrency: number): void =>
  useSelection.getState().select({ context, concurrency })

/** The front runs over concurrency, whatever the other pictures do. */
const useShownLook = (run: string, { config }: SweepManifest): LookControl => {
  const { look, change } = useLook(run, firstLook(config))
  return { look: look.picture === 'front' ? { ...look, axis: 'concurrency' } : look, change }
}

/**
 * While points come in, curves go on holding what they held at the first of them: the largest value with points, which
 * they hold by themselves, would change under the reader.
 */
const useSteadyHeld = (
  live: boolean,
  model: SweepModel | null,
  held: number,
  { look, change }: LookControl,
) => {
  const holds = otherAxis(look.axis)
  const open = live && look.held[holds] === null && model?.choices.includes('measured') === true
  useEffect(() => {
    if (open) change({ held: { ...look.held, [holds]: held } })
  })
}

interface Props {
  readonly run: RunInfo
  readonly sweep: SweepManifest
}

/** All that depends on the rows alone, so that moving about computes none of it again. */
const useSweep = (sweep: SweepManifest, { rows }: Points) => {
  const summary = useMemo(() => summarise(rows), [rows])
  // Manifests are read again while a sweep goes on; one that says the same must not compute all points anew.
  const said = JSON.stringify(sweep)
  // biome-ignore lint/correctness/useExhaustiveDependencies: `said` stands for the sweep
  const progress = useMemo(() => progressOf(sweep, rows), [said, rows])
  return { summary, progress }
}

/** A sweep: curves, gain map, the selected cell, and what it says in words. */
export const SweepView = ({ run, sweep }: Props) => {
  const { manifest } = run
  const isOurs = useSession((s) => s.desktop?.activeSweep?.run === run.id)
  // The manifest says so a moment after its process began.
  const live = isOurs || manifest.status === 'running'
  const points = usePoints(run.id, live)
  const { rows } = points
  const { summary, progress } = useSweep(sweep, points)
  const control = useShownLook(run.id, sweep)
  const { look, change } = control
  const { context, concurrency, select } = useSelection()
  const { compared, facet, published: layOver } = look
  const model = useMemo(
    () => modelOf({ sweep, rows, summary, progress, look: { compared, facet, published: layOver } }),
    [sweep, rows, summary, progress, compared, facet, layOver],
  )
  const held = model === null ? 0 : heldOf(model, look, { context, concurrency })
  const place =
    model?.map.flat().find((one) => one.context === context && one.concurrency === concurrency) ?? null
  const cell = place === null || model === null ? [] : cellRows(model, place.context, place.concurrency)
  const picked = pickedRow(cell, look.arrangement, place?.cell ?? null)
  useSteadyHeld(live, model, held, control)
  useThroughputInspector(picked, manifest)
  useSweepKeys({ model, held, control, cell, picked, reload: points.reload })
  if (model === null) return <NoPoints run={run} points={points} progress={progress} />

  const { axis } = look
  const holds = otherAxis(axis)
  const along = axis === 'context' ? model.contexts : model.concurrencies
  const published = !look.published
    ? []
    : look.picture === 'front'
      ? publishedPairs(held).flatMap(({ latency, rate }) => [latency, rate])
      : publishedRates(axis, held, along[0] ?? 0, along.at(-1) ?? 0)
  const gains = model.map.flat().flatMap((one) => one.published)
  const source = model.group === null ? undefined : groupSource(model.group, manifest)
  const hold = (value: number): void => {
    change({ held: { ...look.held, [holds]: value } })
    if (context !== null && concurrency !== null) select({ [holds]: value })
  }
  const pick = (spot: Spot): void => {
    selectCell(spot.context, spot.concurrency)
    change({ arrangement: arrangementName(spot) })
  }
  return (
    <section className="throughput" aria-label="Throughput">
      <MeasureBar run={run.id} manifest={manifest} progress={progress} />
      <Toolbar
        model={model}
        held={held}
        control={control}
        published={published.length + gains.length}
        onHold={hold}
        onReload={points.reload}
      />
      {points.error === null ? null : (
        <p className="throughput-error" role="alert">
          {points.error}
        </p>
      )}
      <div className="throughput-frame">
        <div className="throughput-body">
          <div className="throughput-pictures">
            <Pictures
              model={model}
              held={held}
              control={control}
              manifest={manifest}
              source={source}
              published={published}
              selected={axis === 'context' ? context : concurrency}
              picked={picked?.spot ?? null}
              onPick={pick}
              onSelect={(x) => (axis === 'context' ? selectCell(x, held) : selectCell(held, x))}
            />
            <GainMap
              map={model.map}
              concurrencies={model.concurrencies}
              source={source}
              context={context}
              concurrency={concurrency}
              onSelect={selectCell}
            />
          </div>
          <div className="throughput-words">
            <CellTable
              place={place}
              rows={cell}
              picked={picked}
              manifest={manifest}
              onPick={(arrangement) => change({ arrangement })}
            />
            <Summary group={model.group} source={source} modelError={model.modelError} />
            <ProgressNote run={run} progress={progress} />
            {look.published ? <PublishedList points={[...published, ...gains]} /> : null}
          </div>
        </div>
      </div>
    </section>
  )
}

interface NoPointsProps {
  readonly run: RunInfo
  readonly points: Points
  readonly progress: Parameters<typeof ProgressNote>[0]['progress']
}

/** Before the first row: it is being read, could not be, or is not there yet. */
const NoPoints = ({ run, points, progress }: NoPointsProps) => {
  if (points.error !== null)
    return (
      <div className="empty-state" data-testid="throughput-broken">
        <p className="throughput-error selectable" role="alert">
          {points.error}
        </p>
        <button type="button" className="button" onClick={points.reload}>
          Try again
        </button>
      </div>
    )
  if (!points.read)
    return (
      <div className="empty-state" aria-live="polite">
        <p>Reading the points of the sweep …</p>
      </div>
    )
  return (
    <section className="throughput" aria-label="Throughput">
      <MeasureBar run={run.id} manifest={run.manifest} progress={progress} />
      <div className="empty-state" data-testid="throughput-no-points">
        <p>The sweep has no points yet.</p>
        <ProgressNote run={run} progress={progress} />
      </div>
    </section>
  )
}
