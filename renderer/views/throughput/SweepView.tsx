import { lazy, Suspense, useMemo } from 'react'
import type { RunInfo } from '../../../app/protocol/store.ts'
import type { SweepManifest } from '../../../app/sweep/manifest.ts'
import { publishedRates } from '../../../app/sweep/overlay.ts'
import { arrangementName, curvesOf, otherAxis } from '../../../app/sweep/spots.ts'
import { summarise } from '../../../app/sweep/summary.ts'
import { SourceBadge } from '../../controls/SourceBadge.tsx'
import { useSelection } from '../../state/selection.ts'
import { useTheme } from '../../theme/use-theme.ts'
import { CellTable } from './CellTable.tsx'
import { GainMap } from './GainMap.tsx'
import { Legend } from './Legend.tsx'
import { toggled, useLook } from './look.ts'
import { marksOf } from './marks.tsx'
import { cellRows, modelOf, pickedRow, progressOf } from './model.ts'
import { PublishedList } from './Published.tsx'
import { ProgressNote, Summary } from './Summary.tsx'
import { groupSource } from './source.ts'
import { Toolbar } from './Toolbar.tsx'
import { useThroughputInspector } from './use-inspector.ts'
import { type Points, usePoints } from './use-points.ts'
import { useSweepKeys } from './use-sweep-keys.ts'
import { axisText, predictedText } from './words.ts'

/** Recharts is large; the window shows before it has come. */
const CurveChart = lazy(() => import('./CurveChart.tsx'))

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
  const theme = useTheme()
  const points = usePoints(run.id, manifest.status === 'running')
  const { rows } = points
  const { summary, progress } = useSweep(sweep, points)
  const control = useLook(run.id)
  const { look, change } = control
  const { context, concurrency, select } = useSelection()
  const model = useMemo(
    () => modelOf({ sweep, rows, summary, progress, look, selected: { context, concurrency } }),
    [sweep, rows, summary, progress, look, context, concurrency],
  )
  const place =
    model?.map.flat().find((one) => one.context === context && one.concurrency === concurrency) ?? null
  const cell = place === null || model === null ? [] : cellRows(model, place.context, place.concurrency)
  const picked = pickedRow(cell, look.arrangement, place?.cell ?? null)
  useThroughputInspector(picked, manifest)
  useSweepKeys({ model, control, cell, picked, reload: points.reload })
  if (model === null) return <NoPoints run={run} points={points} progress={progress} />

  const { axis } = look
  const holds = otherAxis(axis)
  const shown = model.spots.filter(
    (spot) =>
      (spot.kind === model.compared ||
        (spot.kind === 'local' && model.compared === 'measured' && look.model)) &&
      !look.hidden.has(arrangementName(spot)),
  )
  const curves = curvesOf(shown, axis, model.held)
  const marks = marksOf(model.arrangements, theme)
  const along = axis === 'context' ? model.contexts : model.concurrencies
  const published = look.published ? publishedRates(axis, model.held, along[0] ?? 0, along.at(-1) ?? 0) : []
  const gains = model.map.flat().flatMap((one) => one.published)
  const source = model.group === null ? undefined : groupSource(model.group, manifest)
  const hold = (value: number): void => {
    change({ held: { ...look.held, [holds]: value } })
    if (context !== null && concurrency !== null) select({ [holds]: value })
  }
  const selectCell = (atContext: number, atConcurrency: number): void =>
    select({ context: atContext, concurrency: atConcurrency })
  return (
    <section className="throughput" aria-label="Throughput">
      <Toolbar
        model={model}
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
            <section className="throughput-part" aria-label="Curves">
              <h3>
                Tokens/s over {axis} <SourceBadge source={source} />
                <span className="field-unit">
                  at {holds} <span className="num">{axisText(holds, model.held)}</span>;{' '}
                  {model.compared === 'measured'
                    ? 'bars: slowest and fastest repeat'
                    : predictedText(model.group)}
                  {!look.published
                    ? ''
                    : published.length === 0
                      ? '; nothing published has a place here'
                      : '; crosses and diamonds: published by others with and without DCP, sources on hover'}
                </span>
              </h3>
              <Legend
                arrangements={model.arrangements}
                marks={marks}
                hidden={look.hidden}
                toggle={(name) => change({ hidden: toggled(look.hidden, name) })}
                predicted={model.compared === 'gpus' ? 'all' : look.model ? 'some' : 'none'}
                capped={shown.some(({ capacityLimited }) => capacityLimited)}
              />
              <div className="throughput-chart" data-testid="curves">
                {curves.length === 0 ? (
                  <p className="quiet throughput-none">
                    {model.spots.some(({ kind }) => kind === model.compared)
                      ? `Nothing to draw at ${holds} ${axisText(holds, model.held)}.`
                      : 'No point is measured yet.'}
                  </p>
                ) : (
                  <Suspense fallback={null}>
                    <CurveChart
                      curves={curves}
                      axis={axis}
                      marks={marks}
                      manifest={manifest}
                      logarithmic={look.logarithmic}
                      published={published}
                      selected={axis === 'context' ? context : concurrency}
                      picked={picked?.spot ?? null}
                      onSelect={(x) =>
                        axis === 'context' ? selectCell(x, model.held) : selectCell(model.held, x)
                      }
                    />
                  </Suspense>
                )}
              </div>
            </section>
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
    <div className="empty-state" data-testid="throughput-no-points">
      <p>The sweep has no points yet.</p>
      <ProgressNote run={run} progress={progress} />
    </div>
  )
}
