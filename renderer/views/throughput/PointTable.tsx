import type { ReactNode } from 'react'
import { type Table, tabText } from '../../../app/messages/csv.ts'
import { useTableSource } from '../../export/table-source.ts'
import { CopyButton } from '../../shell/CopyButton.tsx'

export interface Column {
  readonly title: ReactNode
  readonly key: string
  /** What it says, for those who point at it. */
  readonly help?: string
}

export interface Line {
  readonly key: string
  readonly name: string
  readonly cells: readonly { readonly text: ReactNode; readonly exact?: string }[]
  readonly dim?: boolean
  readonly picked: boolean
  readonly onPick: () => void
}

interface Props {
  readonly name: string
  readonly columns: readonly Column[]
  readonly lines: readonly Line[]
  /** All of it, exact: what is copied and saved. */
  readonly exact: () => Table
  readonly testId: string
}

/** The points of a picture as a table, each to be picked. */
export const PointTable = ({ name, columns, lines, exact, testId }: Props) => {
  const table = useTableSource(name, exact)
  return (
    <div className="throughput-twin">
      <h4>
        {name}
        <CopyButton
          text={tabText(exact())}
          what={`the table ${name}`}
          label="Copy"
          className="button button-quiet throughput-copy"
          testId={`copy-${testId}`}
        />
      </h4>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keys */}
      <section className="throughput-scroll throughput-rows" tabIndex={0} aria-label={`${name}, all rows`}>
        <table ref={table} className="cell-table" data-testid={testId}>
          <thead>
            <tr>
              {columns.map(({ key, title, help }) => (
                <th key={key} scope="col" title={help}>
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {lines.map(({ key, name: called, cells, dim, picked, onPick }) => (
              <tr
                key={key}
                className={`cell-row${picked ? ' cell-picked' : ''}${dim === true ? ' cell-dim' : ''}`}
                data-testid={`${testId}-row`}
                onClick={onPick}
              >
                <th scope="row">
                  <button type="button" className="cell-name" aria-pressed={picked} title="Select it">
                    {called}
                  </button>
                </th>
                {cells.map(({ text, exact: whole }, i) => (
                  <td key={columns[i + 1]?.key ?? i} title={whole}>
                    {text}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </div>
  )
}
