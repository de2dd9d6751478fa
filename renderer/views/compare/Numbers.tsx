import { checkText } from '../../../app/compare/text.ts'
import { formatInt, formatSci } from '../../drawing/format.ts'
import { CopyButton } from '../../shell/CopyButton.tsx'
import { goToFirst } from './go.ts'
import { firstPlace, type Rows, rowCounts, type Tensors } from './model.ts'
import type { Sides } from './use-compare.ts'

interface Props {
  readonly sides: Sides
  readonly rows: Rows | null
  readonly tensors: Tensors | null
  readonly loading: boolean
}

/** Where numbers diverge by more than rounding explains: the first place, then tensor by tensor, rows, and both checks. */
export const Numbers = ({ sides, rows, tensors, loading }: Props) => {
  const first = firstPlace(rows, tensors)
  return (
    <section aria-label="Numbers">
      <h3>Numbers</h3>
      {first === null ? null : (
        <div className="compare-first" data-testid="compare-first">
          <p className="selectable">
            First divergence: {first.text}.
            <CopyButton text={first.text} what="the first divergence" />
          </p>
          <button
            type="button"
            className="button"
            title="Select it and show it in A (F)"
            data-testid="compare-go"
            onClick={() => goToFirst(sides, first)}
          >
            Go there
          </button>
        </div>
      )}
      {rows === null ? null : <RowNotes rows={rows} />}
      {tensors === null ? (
        <p className="compare-note">{loading ? 'Comparing the tensors …' : ''}</p>
      ) : tensors.groups === 0 ? (
        <p className="compare-note" data-testid="compare-no-tensors">
          Both captured no tensors of the same step and layer. Capture the same steps in both (Run, capture)
          to see the head and value where numbers diverge.
        </p>
      ) : (
        <TensorTable tensors={tensors} />
      )}
    </section>
  )
}

const RowNotes = ({ rows }: { readonly rows: Rows }) => (
  <dl className="compare-checks" data-testid="compare-rows">
    <dt>recorded</dt>
    <dd>{rows.unlike ?? rowCounts(rows)}</dd>
    <dt>check of A</dt>
    <dd className={rows.checks.a.failedSteps > 0 ? 'compare-bad' : undefined}>{checkText(rows.checks.a)}</dd>
    <dt>check of B</dt>
    <dd className={rows.checks.b.failedSteps > 0 ? 'compare-bad' : undefined}>{checkText(rows.checks.b)}</dd>
  </dl>
)

const TensorTable = ({ tensors: { tensors, groups, unmatched, notes } }: { readonly tensors: Tensors }) => (
  <>
    <table className="compare-table" data-testid="compare-tensors">
      <caption className="compare-note">
        Tensors of {formatInt(groups)} {groups === 1 ? 'step and layer' : 'steps and layers'} that both have
        {unmatched === 0 ? '' : `, ${formatInt(unmatched)} of one only are left out`}, in the order in which a
        step makes them
      </caption>
      <thead>
        <tr>
          <th scope="col">tensor</th>
          <th scope="col" className="num" title="Rows and heads">
            cells
          </th>
          <th scope="col" className="num">
            diverging
          </th>
          <th
            scope="col"
            className="num"
            title="Relative norm of vectors, difference of natural lse or of whole numbers"
          >
            worst error
          </th>
          <th scope="col" className="num" title="What rounding explains">
            allowed
          </th>
        </tr>
      </thead>
      <tbody>
        {tensors.map(({ tensor, cells, diverging, worst, tolerance }) => (
          <tr key={tensor} data-diverges={diverging > 0}>
            <th scope="row">{tensor}</th>
            <td className="num">{formatInt(cells)}</td>
            <td className={diverging > 0 ? 'num compare-bad' : 'num'}>{formatInt(diverging)}</td>
            <td className="num" title={String(worst)}>
              {formatSci(worst)}
            </td>
            <td className="num">{tolerance === 0 ? 'exact' : formatSci(tolerance)}</td>
          </tr>
        ))}
      </tbody>
    </table>
    {notes.map((note) => (
      <p key={note} className="compare-note selectable">
        {note}
      </p>
    ))}
  </>
)
