import { lazy, Suspense } from 'react'
import type { PublishedPoint } from '../../../app/sweep/published.ts'
import { arrangementName, curvesOf, otherAxis, type Spot } from '../../../app/sweep/spots.ts'
import type { Manifest } from '../../../app/trace/manifest.ts'
import { SourceBadge } from '../../controls/SourceBadge.tsx'
import { useTheme } from '../../theme/use-theme.ts'
import { Legend } from './Legend.tsx'
import { type Look, type LookControl, toggled } from './look.ts'
import { marksOf } from './marks.tsx'
import type { SweepModel } from './model.ts'
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

interface Props {
  readonly model: SweepModel
  readonly held: number
  readonly control: LookControl
  readonly manifest: Manifest
  readonly source: string | undefined
  readonly published: readonly PublishedPoint[]
  /** Place of the selected cell on the axis. */
  readonly selected: number | null
  readonly picked: Spot | null
  readonly onSelect: (x: number) => void
}

/** Rates of every arrangement along one axis. */
export const Curves = ({ model, held, control, manifest, source, published, ...chosen }: Props) => {
  const theme = useTheme()
  const { look, change } = control
  const { axis } = look
  const holds = otherAxis(axis)
  const shown = model.spots.filter((spot) => isShown(spot, model, look))
  const curves = curvesOf(shown, axis, held)
  const marks = marksOf(model.arrangements, theme)
  return (
    <section className="throughput-part" aria-label="Curves">
      <h3>
        Tokens/s over {axis} <SourceBadge source={source} />
        <span className="field-unit">
          at {holds} <span className="num">{axisText(holds, held)}</span>;{' '}
          {model.compared === 'measured' ? 'bars: slowest and fastest repeat' : predictedText(model.group)}
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
              {...chosen}
              curves={curves}
              axis={axis}
              marks={marks}
              manifest={manifest}
              logarithmic={look.logarithmic}
              published={published}
            />
          </Suspense>
        )}
      </div>
    </section>
  )
}
