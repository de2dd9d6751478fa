import { type Axis, arrangementName, type Curve, type Spot } from '../../../app/sweep/spots.ts'
import type { Manifest } from '../../../app/trace/manifest.ts'
import { SourceBadge } from '../../controls/SourceBadge.tsx'
import { formatInt, formatRate } from '../../drawing/format.ts'
import { PointTable } from './PointTable.tsx'
import { ratesTable } from './picture-tables.ts'
import { spotSource } from './source.ts'
import { axisText, spreadText } from './words.ts'

const COLUMNS = [
  { key: 'arrangement', title: 'arrangement' },
  { key: 'place', title: 'at' },
  { key: 'rate', title: 'tokens/s' },
  { key: 'interval', title: '95% confidence' },
  { key: 'spread', title: 'repeats', help: 'Slowest and fastest' },
  { key: 'batch', title: 'batch', help: 'Requests that run at once' },
  { key: 'source', title: 'source' },
] as const

interface Props {
  readonly curves: readonly Curve[]
  readonly axis: Axis
  readonly manifest: Manifest
  readonly picked: Spot | null
  readonly onPick: (spot: Spot) => void
}

/** The points of all curves, unfolded on demand. */
export const Rates = ({ curves, axis, manifest, picked, onPick }: Props) => {
  const spots = curves.flatMap((curve) => curve.spots)
  return (
    <details className="throughput-rates" data-testid="rates">
      <summary>Rates as a table</summary>
      <PointTable
        name="Rates"
        testId="rates-table"
        columns={COLUMNS}
        exact={() => ratesTable(spots, manifest)}
        lines={spots.map((spot) => ({
          key: `${spot.kind} ${spot.key}`,
          name: arrangementName(spot),
          picked: spot === picked,
          onPick: () => onPick(spot),
          cells: [
            { text: axisText(axis, spot[axis]) },
            { text: formatRate(spot.tokensPerSecond), exact: String(spot.tokensPerSecond) },
            { text: spot.interval === null ? '–' : spreadText(...spot.interval) },
            { text: spot.rows.length < 2 ? '–' : spreadText(spot.least, spot.most) },
            { text: formatInt(spot.batch) },
            { text: <SourceBadge source={spotSource(spot, manifest)} /> },
          ],
        }))}
      />
    </details>
  )
}
