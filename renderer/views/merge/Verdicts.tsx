import type { VectorError } from '../../../app/lse/error.ts'
import type { Table } from '../../../app/messages/csv.ts'
import { formatSci } from '../../drawing/format.ts'
import { useTableSource } from '../../export/table-source.ts'
import type { MergeModel } from './model.ts'

/** The three comparisons that tell a wrong partial from a wrong merge. */
export const Verdicts = ({ model }: { readonly model: MergeModel }) => {
  const table = useTableSource('Comparisons', () => verdictTable(model))
  return (
    <table ref={table} className="merge-verdicts">
      <thead>
        <tr>
          <th scope="col">comparison</th>
          <th scope="col">relative error</th>
          <th scope="col">largest error</th>
          <th scope="col">at value</th>
        </tr>
      </thead>
      <tbody>
        <Comparison
          name="merged against the reference"
          title="The engine's result against unsharded attention in fp64 over the same keys and values, rounded as the cache keeps them"
          error={model.againstReference}
          testId="merge-error-reference"
        />
        <Comparison
          name="merged against this merge"
          title="The engine's result against a merge of the captured partials, done here in fp64: what transport and merge add"
          error={model.againstRecomputed}
          testId="merge-error-recomputed"
        />
        <Comparison
          name="this merge against the reference"
          title="The captured partials, merged here in fp64, against the reference: what the partials themselves add"
          error={model.partialsAgainstReference}
          testId="merge-error-partials"
        />
      </tbody>
    </table>
  )
}

/** The same, exact, to be saved. */
export const verdictTable = (model: MergeModel): Table => ({
  header: ['comparison', 'relative_error', 'largest_absolute_error', 'at_value'],
  rows: (
    [
      ['merged against the reference', model.againstReference],
      ['merged against this merge', model.againstRecomputed],
      ['this merge against the reference', model.partialsAgainstReference],
    ] as const
  ).map(([name, error]) => [name, error?.relative ?? null, error?.maxAbs ?? null, error?.at ?? null]),
})

interface Props {
  readonly name: string
  readonly title: string
  readonly error: VectorError | null
  readonly testId: string
}

const Comparison = ({ name, title, error, testId }: Props) => (
  <tr title={title}>
    <th scope="row">{name}</th>
    {error === null ? (
      <td colSpan={3} className="merge-quiet">
        no reference
      </td>
    ) : (
      <>
        <td className={Number.isNaN(error.relative) ? 'num merge-nan' : 'num'} data-testid={testId}>
          {sciText(error.relative)}
        </td>
        <td className="num">{sciText(error.maxAbs)}</td>
        <td className="num">{error.at}</td>
      </>
    )}
  </tr>
)

export const sciText = (x: number): string => (Number.isFinite(x) ? formatSci(x) : String(x))
