import { memo } from 'react'
import { arrangementName } from '../../../app/sweep/spots.ts'
import type { Cell } from '../../../app/sweep/summary.ts'
import { bestText, VERDICT_WORDS } from '../../../app/sweep/words.ts'
import { SourceBadge } from '../../controls/SourceBadge.tsx'
import { formatInt, formatRate } from '../../drawing/format.ts'
import { useTableSource } from '../../export/table-source.ts'
import { divergingColour, divergingInk, type Theme } from '../../theme/colours.ts'
import { useTheme } from '../../theme/use-theme.ts'
import type { Place } from './model.ts'
import { gainTable } from './table-text.ts'
import { gainText, intervalText, tokensText } from './words.ts'

/** Strength of a gain's colour: full from a factor of two on, and never so weak that its sign is lost. */
const strength = (gain: number): number => {
  const x = Math.min(1, Math.max(-1, Math.log2(gain)))
  return Math.sign(x) * Math.max(0.25, Math.abs(x))
}

const fillOf = ({ gain, verdict }: Cell, theme: Theme): React.CSSProperties | undefined =>
  verdict === 'not significant'
    ? undefined
    : { background: divergingColour(strength(gain), theme), color: divergingInk(strength(gain), theme) }

const titleOf = ({ context, concurrency, cell, why }: Place, source: string | undefined): string => {
  const where = `context ${formatInt(context)}, concurrency ${formatInt(concurrency)}`
  if (cell === null) return `${where}: ${why}`
  const rates = `${formatRate(cell.best.tokensPerSecond)} against ${formatRate(cell.tp.tokensPerSecond)} tokens/s`
  return (
    `${where}: ${bestText(cell)}, ${intervalText(cell)}, ${VERDICT_WORDS[cell.verdict]}; ${rates}` +
    `${source === undefined ? '' : ` (${source})`}` +
    `${cell.best.limit === '' ? '' : `; limited by ${cell.best.limit}`}`
  )
}

const SHORT_VERDICT: Readonly<Record<Cell['verdict'], string>> = {
  dcp: '',
  tp: 'tp',
  'not significant': 'n.s.',
}

interface CellProps {
  readonly place: Place
  readonly source: string | undefined
  readonly selected: boolean
  readonly onSelect: (context: number, concurrency: number) => void
}

const MapCell = memo(({ place, source, selected, onSelect }: CellProps) => {
  const theme = useTheme()
  const { context, concurrency, cell, published } = place
  const verdict = cell === null ? 'none' : cell.verdict === 'not significant' ? 'unclear' : cell.verdict
  return (
    <td className={selected ? 'map-selected' : undefined}>
      <button
        type="button"
        aria-pressed={selected}
        tabIndex={selected ? 0 : -1}
        className={`map-cell map-${verdict}`}
        style={cell === null ? undefined : fillOf(cell, theme)}
        title={titleOf(place, source)}
        data-testid={`map-${context}-${concurrency}`}
        data-verdict={verdict}
        data-gain={cell?.gain ?? ''}
        onClick={() => onSelect(context, concurrency)}
      >
        {cell === null ? (
          <span className="map-nothing">–</span>
        ) : (
          <>
            <span className="map-line">
              <span className="num map-gain">{gainText(cell.gain)}</span>
              <span>{SHORT_VERDICT[cell.verdict]}</span>
            </span>
            <span>{arrangementName(cell.best)}</span>
            <span className="map-line">
              <span>{cell.best.limit}</span>
              <span>{cell.best.capacityLimited || cell.tp.capacityLimited ? 'cap' : ''}</span>
            </span>
          </>
        )}
        {published.length === 0 ? null : (
          <span className="map-published" title={published.map(({ source: from }) => from).join('\n')}>
            publ. {published.map(({ value }) => gainText(value)).join(', ')}
          </span>
        )}
      </button>
    </td>
  )
})

interface Props {
  readonly map: readonly (readonly Place[])[]
  readonly concurrencies: readonly number[]
  readonly source: string | undefined
  readonly context: number | null
  readonly concurrency: number | null
  readonly onSelect: (context: number, concurrency: number) => void
}

/** The best arrangement of every context and concurrency, and its gain over the baseline. */
export const GainMap = ({ map, concurrencies, source, context, concurrency, onSelect }: Props) => {
  const table = useTableSource('Gain map', () => gainTable(map, source))
  return (
    <section className="throughput-part throughput-map" aria-label="Gain map">
      <h3>
        Best DCP over TP <SourceBadge source={source} />
        <span className="field-unit">
          gain, arrangement, what limits it by the cost model; tp: slower than TP; n.s.: not significant; cap:
          at capacity
        </span>
      </h3>
      <div className="throughput-scroll">
        <table ref={table} data-testid="gain-map">
          <thead>
            <tr>
              <th scope="col">context</th>
              {concurrencies.map((value) => (
                <th
                  key={value}
                  scope="col"
                  className="num map-column"
                  title={`concurrency ${formatInt(value)}`}
                >
                  n {formatInt(value)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {map.map((places) => {
              const at = places[0]?.context ?? 0
              return (
                <tr key={at}>
                  <th scope="row" className="num" title={`${formatInt(at)} tokens`}>
                    {tokensText(at)}
                  </th>
                  {places.map((place) => (
                    <MapCell
                      key={place.concurrency}
                      place={place}
                      source={source}
                      selected={place.context === context && place.concurrency === concurrency}
                      onSelect={onSelect}
                    />
                  ))}
                </tr>
              )
            })}
          </tbody>
        </table>
      </div>
    </section>
  )
}
