import type { Table } from '../../../app/messages/csv.ts'
import type { DumpRank } from '../../../app/protocol/store.ts'
import { RankChip } from '../../controls/RankChip.tsx'
import { formatInt, formatValue } from '../../drawing/format.ts'
import { useTableSource } from '../../export/table-source.ts'
import { useSelection } from '../../state/selection.ts'
import { mapValue } from './map-layout.ts'
import { MEASURE_WORDS, type RankPart } from './model.ts'
import type { Shown } from './use-dump-view.ts'
import type { RankMaps } from './use-rank-maps.ts'

/** The maps in numbers: of every rank the picked cell, and how many values are no ordinary numbers. */
export const RankTable = ({ shown, maps }: { readonly shown: Shown; readonly maps: RankMaps }) => {
  const { rank, select } = useSelection()
  const table = useTableSource(`Ranks of ${shown.tensor ?? 'the tensor'}`, () => rankTable(shown, maps))
  return (
    <div className="pm-ranks">
      <table ref={table}>
        <thead>
          <tr>
            <th scope="col">rank</th>
            <th scope="col" title={`${MEASURE_WORDS[shown.measure]} of the picked cell`}>
              picked
            </th>
            <th scope="col">NaN</th>
            <th scope="col">Inf</th>
            <th scope="col">zero</th>
            <th scope="col">least</th>
            <th scope="col">most</th>
          </tr>
        </thead>
        <tbody>
          {shown.parts.map((part) => (
            <Row
              key={part.rank}
              part={part}
              shown={shown}
              maps={maps}
              selected={part.rank === rank}
              onSelect={() =>
                part.rank !== 'reference' && select({ rank: part.rank === rank ? null : part.rank })
              }
            />
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** Of the picked cell of a rank: its measure; undefined where it is not there, null while it is read. */
const pickedValue = (shown: Shown, { maps }: RankMaps, rank: DumpRank): number | null | undefined => {
  const [map, cell] = [maps.get(rank), shown.cells.get(rank)]
  if (cell === undefined) return undefined
  return map === undefined ? null : mapValue(map, cell)
}

/** The same, exact, to be saved. */
const rankTable = (shown: Shown, maps: RankMaps): Table => ({
  header: ['rank', `picked_${shown.measure}`, 'nan', 'plus_inf', 'minus_inf', 'zero', 'least', 'most'],
  rows: shown.parts.map(({ rank }) => {
    const counts = maps.maps.get(rank)?.counts
    return [
      rank,
      pickedValue(shown, maps, rank) ?? null,
      counts?.nan ?? null,
      counts?.plusInf ?? null,
      counts?.minusInf ?? null,
      counts?.zero ?? null,
      counts?.least ?? null,
      counts?.most ?? null,
    ]
  }),
})

interface RowProps {
  readonly part: RankPart
  readonly shown: Shown
  readonly maps: RankMaps
  readonly selected: boolean
  readonly onSelect: () => void
}

const Row = ({ part, shown, maps, selected, onSelect }: RowProps) => {
  const value = pickedValue(shown, maps, part.rank)
  const counts = maps.maps.get(part.rank)?.counts
  const infinite = counts === undefined ? 0 : counts.plusInf + counts.minusInf
  return (
    <tr
      className={selected ? 'rank-row rank-row-selected' : 'rank-row'}
      data-testid={`pm-rank-${part.rank}`}
      onClick={onSelect}
    >
      <th scope="row">
        {part.rank === 'reference' ? (
          'ref.'
        ) : (
          <button
            type="button"
            className="rank-pick"
            aria-pressed={selected}
            aria-label={`rank ${part.rank}`}
          >
            <RankChip rank={part.rank} />
          </button>
        )}
      </th>
      <td className={Number.isNaN(value) ? 'num pm-bad' : 'num'}>
        {value === undefined ? 'not here' : value === null ? '' : formatValue(value)}
      </td>
      {counts === undefined ? (
        <td colSpan={5} className="quiet">
          reading …
        </td>
      ) : (
        <>
          <td className={counts.nan > 0 ? 'num pm-bad' : 'num'}>{formatInt(counts.nan)}</td>
          <td
            className={counts.plusInf > 0 ? 'num pm-warn' : 'num'}
            title={`+∞ ${counts.plusInf}, −∞ ${counts.minusInf}`}
          >
            {formatInt(infinite)}
          </td>
          <td className="num">{formatInt(counts.zero)}</td>
          <td className="num">{formatValue(counts.least)}</td>
          <td className="num">{formatValue(counts.most)}</td>
        </>
      )}
    </tr>
  )
}
