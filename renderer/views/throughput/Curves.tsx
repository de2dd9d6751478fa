import { lazy, Suspense } from 'react'
import { coursesOf } from '../../../app/sweep/crossings.ts'
import type { PublishedPoint } from '../../../app/sweep/published.ts'
import { arrangementName, type Curve, curvesOf, otherAxis, type Spot } from '../../../app/sweep/spots.ts'
import { SourceBadge } from '../../controls/SourceBadge.tsx'
import { Crossings } from './Crossings.tsx'
import { Legend } from './Legend.tsx'
import { type Look, toggled } from './look.ts'
import { hasBand, type SweepModel } from './model.ts'
import type { PictureProps } from './picture.ts'
import { Rates } from './Rates.tsx'
import { axisText, predictedText } from './words.ts'

/** Recharts is large; the window shows before it has come. */
const CurveChart = lazy(() => import('./CurveChart.tsx'))

/** What is compared, and beside measurements the cost model's word on them where it is asked for. */
const isShown = (spot: Spot, { compared }: SweepModel, { model, hidden }: Look): boolean =>
  (spot.kind === compared || (spot.kind === 'local' && compared === 'measured' && model)) &&
  !hidden.has(arrangementName(spot))

const publishedNote = (asked: boolean, count: number): string => {
  if (!asked) return ''
  return count === 0
    ? '; nothing published has a place here'
    : '; crosses and diamonds: published by others with and without DCP, sources on hover'
}

/** What stands around the marks of measured curves. */
const curvesNote = (curves: readonly Curve[], bands: boolean): string => {
  if (!curves.some(({ spots }) => spots.some(({ interval }) => interval !== null)))
    return 'one repeat: no confidence is known'
  return bands && curves.some(({ spots }) => spots.some(hasBand))
    ? 'bars: slowest and fastest repeat; bands: 95% confidence'
    : 'bars: slowest and fastest repeat'
}

interface Props extends Omit<PictureProps, 'legend'> {
  readonly published: readonly PublishedPoint[]
  /** Place of the selected cell on the axis. */
  readonly selected: number | null
  readonly onSelect: (x: number) => void
}

/** Rates of every arrangement along one axis. */
export const Curves = (props: Props) => {
  const { model, held, control, manifest, source, marks, published, selected, picked, onPick, onSelect } =
    props
  const { look, change } = control
  const { axis } = look
  const holds = otherAxis(axis)
  const shown = model.spots.filter((spot) => isShown(spot, model, look))
  const curves = curvesOf(shown, axis, held)
  // Where nothing says how far the model is off, it is not trusted within a factor of two.
  const noise = model.compared === 'measured' ? 'repeats' : (model.modelError?.p90 ?? 2)
  const courses = coursesOf(
    curves.filter(({ kind }) => kind === model.compared),
    axis,
    noise,
  )
  return (
    <>
      <h3>
        Tokens/s over {axis} <SourceBadge source={source} />
        <span className="field-unit">
          at {holds} <span className="num">{axisText(holds, held)}</span>;{' '}
          {model.compared === 'measured' ? curvesNote(curves, look.bands) : predictedText(model.group)}
          {publishedNote(look.published, published.length)}
        </span>
      </h3>
      <Legend
        arrangements={model.arrangements}
        marks={marks}
        hidden={look.hidden}
        toggle={(name) => change({ hidden: toggled(look.hidden, name) })}
        predicted={model.compared === 'gpus' ? 'all' : look.model ? 'some' : 'none'}
        capped={curves.some(({ spots }) => spots.some(({ capacityLimited }) => capacityLimited))}
      />
      <div className="throughput-chart" data-testid="curves">
        {curves.length === 0 ? (
          <p className="quiet throughput-none">
            {model.spots.some(({ kind }) => kind === model.compared)
              ? `Nothing to draw at ${holds} ${axisText(holds, held)}.`
              : 'No point is measured yet.'}
          </p>
        ) : (
          <Suspense fallback={null}>
            <CurveChart
              selected={selected}
              picked={picked}
              onSelect={onSelect}
              curves={curves}
              axis={axis}
              along={axis === 'context' ? model.contexts : model.concurrencies}
              marks={marks}
              manifest={manifest}
              logarithmic={look.logarithmic}
              published={published}
              bands={look.bands}
              courses={courses}
            />
          </Suspense>
        )}
      </div>
      <Crossings courses={courses} axis={axis} held={held} />
      <Rates curves={curves} axis={axis} manifest={manifest} picked={picked} onPick={onPick} />
    </>
  )
}
