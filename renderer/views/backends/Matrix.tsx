import { memo, useEffect, useRef } from 'react'
import type { Profile } from '../../../app/backends/profile.ts'
import { useRowLimit } from '../../controls/use-row-limit.ts'
import { useTableSource } from '../../export/table-source.ts'
import {
  type Cell,
  cellText,
  firstLines,
  type Line,
  matrixTable,
  type Picked,
  rulesOf,
  type Shown,
  verdictOf,
} from './model.ts'

export type Pick = (row: string | null, backend: string | null) => void

interface CellProps {
  readonly line: Line
  readonly profile: Profile
  readonly cell: Cell
  readonly picked: boolean
  readonly onPick: Pick
}

const titleOf = ({ line, profile, cell }: CellProps): string => {
  const reasons = cell.kind === 'verdict' ? cell.checked.reasons.map(({ message }) => `\n${message}`) : []
  const said = cell.kind === 'none' ? cell.why : cellText(cell)
  return `${profile.name}, ${line.title}: ${said}${reasons.join('')}`
}

const Content = ({ cell }: { readonly cell: Cell }) => {
  if (cell.kind === 'fact') return <span className="matrix-fact">{cell.short}</span>
  if (cell.kind === 'none') return <span className="quiet">–</span>
  const { verdict } = cell.checked
  return (
    <>
      <span className={`mark mark-${verdict}`} />
      <span className="matrix-rule">{verdict === 'accepted' ? '' : rulesOf(cell)[0]}</span>
    </>
  )
}

const MatrixCell = memo((props: CellProps) => {
  const { line, profile, cell, picked, onPick } = props
  const verdict = verdictOf(cell)
  const ref = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    // The headings stay in place while the matrix scrolls, so a cell keeps clear of them by its margin.
    if (picked) ref.current?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [picked])
  return (
    <td className={picked ? 'matrix-picked' : undefined}>
      <button
        ref={ref}
        type="button"
        className={`matrix-cell matrix-${verdict ?? cell.kind}`}
        aria-pressed={picked}
        tabIndex={picked ? 0 : -1}
        title={titleOf(props)}
        aria-label={cellText(cell)}
        data-testid={`cell-${line.id}-${profile.name}`}
        data-verdict={verdict ?? ''}
        onClick={() => onPick(line.id, profile.name)}
      >
        <Content cell={cell} />
      </button>
    </td>
  )
})

/** Height of a line, and of what stands above the first. */
const ROW_PX = 23
const ABOVE_PX = 300

interface Props {
  readonly shown: Shown
  readonly picked: Picked
  readonly onPick: Pick
}

/** Back-ends as columns; features and what they compute as lines. */
export const Matrix = ({ shown, picked, onPick }: Props) => {
  const { columns, groups } = shown
  const limit = useRowLimit(ROW_PX, ABOVE_PX)
  const table = useTableSource('Back-ends', () => matrixTable(shown))
  return (
    <div className="matrix-scroll" data-testid="matrix">
      <table ref={table} className="matrix">
        <thead>
          <tr>
            <th scope="col" className="matrix-corner">
              <span className="quiet">feature</span>
            </th>
            {columns.map((profile) => (
              <th key={profile.name} scope="col" aria-selected={picked.column === profile}>
                <button
                  type="button"
                  className="matrix-head"
                  title={`${profile.title}: all that is known of it`}
                  data-testid={`column-${profile.name}`}
                  onClick={() => onPick(null, profile.name)}
                >
                  <span>{profile.name}</span>
                </button>
              </th>
            ))}
          </tr>
        </thead>
        {firstLines(groups, limit).map(({ title, lines }) => (
          <tbody key={title}>
            <tr className="matrix-group">
              <th scope="rowgroup" colSpan={columns.length + 1}>
                <span>{title}</span>
              </th>
            </tr>
            {lines.map((line) => (
              <tr key={line.id}>
                <th scope="row" aria-selected={picked.line?.id === line.id}>
                  <button
                    type="button"
                    className="matrix-name"
                    title={line.rule === '' ? line.title : `${line.title}: rule ${line.rule}`}
                    data-testid={`line-${line.id}`}
                    onClick={() => onPick(line.id, null)}
                  >
                    {line.title}
                  </button>
                </th>
                {columns.map((profile, i) => {
                  const cell = line.cells[i]
                  return cell === undefined ? null : (
                    <MatrixCell
                      key={profile.name}
                      line={line}
                      profile={profile}
                      cell={cell}
                      picked={picked.line?.id === line.id && picked.column === profile}
                      onPick={onPick}
                    />
                  )
                })}
              </tr>
            ))}
          </tbody>
        ))}
      </table>
    </div>
  )
}
