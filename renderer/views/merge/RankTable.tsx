import type { LseBase } from '../../../app/lse/base.ts'
import type { Table } from '../../../app/messages/csv.ts'
import { RankChip } from '../../controls/RankChip.tsx'
import { Label } from '../../controls/Term.tsx'
import { formatFloat } from '../../drawing/format.ts'
import { useTableSource } from '../../export/table-source.ts'
import { useSelection } from '../../state/selection.ts'
import { keysText, lseText, stateText } from './lse-text.ts'
import type { MergeModel, RankPart } from './model.ts'

/** Numbers of every rank's partial; a click selects the rank in all views. */
export const RankTable = ({ model, base }: { readonly model: MergeModel; readonly base: LseBase }) => {
  const { rank, select } = useSelection()
  const table = useTableSource('Partials', () => partialTable(model, base))
  return (
    <div className="merge-table">
      <table ref={table}>
        <thead>
          <tr>
            <th scope="col">rank</th>
            <th scope="col">
              <Label text="keys" />
            </th>
            <th scope="col" title={`log-sum-exp, base ${base}`}>
              <Label text="lse" />
            </th>
            <th scope="col">
              <Label text="weight" />
            </th>
            <th scope="col" title="Euclidean norm of the partial">
              <Label text="|out|" />
            </th>
            <th scope="col">state</th>
          </tr>
        </thead>
        <tbody>
          {model.ranks.map((part) => (
            <Row
              key={part.rank}
              part={part}
              selected={rank === part.rank}
              onSelect={() => select({ rank: rank === part.rank ? null : part.rank })}
            />
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th
              scope="row"
              title="These partials merged by the formula; whether the engine made the same of them is told beside it"
            >
              this merge
            </th>
            <td className="num">{keysText(totalKeys(model))}</td>
            <td className="num" data-testid="merge-lse">
              {lseText(model.lse)}
            </td>
            <td className="num" data-testid="merge-weight-sum">
              {formatFloat(model.weightSum, 6)}
            </td>
            <td className="num">{normText(norm(model.recomputed))}</td>
            <td />
          </tr>
        </tfoot>
      </table>
    </div>
  )
}

/** The same, exact, to be saved; the last row is what the formula makes of them. */
export const partialTable = (model: MergeModel, base: LseBase): Table => ({
  header: ['rank', 'keys', `lse_base_${base}`, 'weight', 'out_norm', 'state'],
  rows: [
    ...model.ranks.map((part) => [
      part.rank,
      part.visibleKeys,
      part.lse,
      part.weight,
      part.norm,
      part.trouble ?? stateText(part),
    ]),
    ['this merge', totalKeys(model), model.lse, model.weightSum, norm(model.recomputed), ''],
  ],
})

interface RowProps {
  readonly part: RankPart
  readonly selected: boolean
  readonly onSelect: () => void
}

const Row = ({ part, selected, onSelect }: RowProps) => (
  <tr
    className={selected ? 'rank-row rank-row-selected' : 'rank-row'}
    data-testid={`merge-rank-${part.rank}`}
    onClick={onSelect}
  >
    <th scope="row">
      <button type="button" className="rank-pick" aria-pressed={selected} aria-label={`rank ${part.rank}`}>
        <RankChip rank={part.rank} />
      </button>
    </th>
    <td className="num">{keysText(part.visibleKeys)}</td>
    <td className={part.state === 'nan' ? 'num merge-nan' : 'num'}>{lseText(part.lse)}</td>
    <td className="num">{formatFloat(part.weight, 6)}</td>
    <td className={Number.isNaN(part.norm) ? 'num merge-nan' : 'num'}>{normText(part.norm)}</td>
    <td className={part.trouble === null ? 'merge-quiet' : 'merge-trouble'}>
      {part.trouble ?? stateText(part)}
    </td>
  </tr>
)

const totalKeys = ({ ranks }: MergeModel): number | null =>
  ranks.reduce<number | null>(
    (sum, r) => (sum === null || r.visibleKeys === null ? null : sum + r.visibleKeys),
    0,
  )

const normText = (x: number): string => (Number.isFinite(x) ? formatFloat(x, 4) : String(x))

const norm = (values: Float64Array): number => Math.sqrt(values.reduce((sum, v) => sum + v * v, 0))
