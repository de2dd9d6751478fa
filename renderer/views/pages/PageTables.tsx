import { useState } from 'react'
import { tabText } from '../../../app/messages/csv.ts'
import { Label } from '../../controls/Term.tsx'
import { formatInt } from '../../drawing/format.ts'
import { useTableSource } from '../../export/table-source.ts'
import { CopyButton } from '../../shell/CopyButton.tsx'
import { useAnswer } from '../../state/use-answer.ts'
import { type Cell, firstToken, isWrong, KIND_WORDS, slotText } from './facts.ts'
import {
  allCells,
  allRequests,
  CELL_HEADER,
  cellLine,
  cellsIn,
  REQUEST_HEADER,
  requestLine,
} from './sources.ts'
import { pick, type SelectedCell } from './use-cell.ts'
import { type Pages, pagingFor } from './use-pages.ts'
import { requestRows } from './windows.ts'

const REQUESTS = 50
const COLUMNS = 100

interface Props {
  readonly pages: Pages
  readonly selected: SelectedCell
}

/** The same as the picture, as tables: the requests, and the cells of the selected one. */
export const PageTables = ({ pages, selected }: Props) => (
  <div className="pages-tables">
    <Requests pages={pages} selected={selected} />
    <Cells pages={pages} selected={selected} />
  </div>
)

const numberText = (x: number): string => (Number.isNaN(x) || x < 0 ? '–' : formatInt(x))

/** Which part of a long table is shown, and the ways to the others. */
const Parts = ({
  what,
  from,
  size,
  all,
  onMove,
  copied,
}: {
  readonly what: string
  readonly from: number
  readonly size: number
  readonly all: number
  readonly onMove: (from: number) => void
  readonly copied: string
}) => (
  <div className="pages-parts">
    <h3>
      {what}{' '}
      <span className="num quiet">
        {all === 0
          ? 'none'
          : `${formatInt(from)} – ${formatInt(Math.min(all, from + size) - 1)} of ${formatInt(all)}`}
      </span>
    </h3>
    <button
      type="button"
      className="button"
      disabled={from === 0}
      onClick={() => onMove(Math.max(0, from - size))}
    >
      Previous
    </button>
    <button
      type="button"
      className="button"
      disabled={from + size >= all}
      onClick={() => onMove(from + size)}
    >
      Next
    </button>
    <CopyButton text={copied} what={`these rows: ${what}`} />
  </div>
)

const Requests = ({ pages, selected }: Props) => {
  const { summary, shown, again } = pages
  const from = Math.floor(selected.request / REQUESTS) * REQUESTS
  const [moved, setMoved] = useState<number | null>(null)
  const first = moved ?? from
  const { answer } = useAnswer(
    'pageCells',
    { source: shown.source, requestFrom: first, requests: REQUESTS, columnFrom: 0, marks: 1, perMark: 1 },
    again,
  )
  const rows = answer === null ? [] : requestRows(answer)
  const copied = tabText({ header: REQUEST_HEADER, rows: rows.map(requestLine) })
  const table = useTableSource(`Requests of rank ${shown.rank}`, (work) => allRequests(pages, work))
  return (
    <section aria-label="Requests">
      <Parts
        what="Requests"
        from={first}
        size={REQUESTS}
        all={summary.requests}
        onMove={setMoved}
        copied={copied}
      />
      <div className="pages-table">
        <table ref={table}>
          <thead>
            <tr>
              <th scope="col">request</th>
              <th scope="col">length</th>
              <th scope="col">
                <Label text="here" />
              </th>
              <th scope="col">
                <Label text="columns" />
              </th>
              <th scope="col">
                <Label text="with keys" />
              </th>
              <th scope="col">newest</th>
              <th scope="col" title="By the block table; −1 on ranks that do not hold it">
                <Label text="slot" />
              </th>
              <th scope="col" title="By slot_mapping">
                <Label text="written to" />
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr
                key={row.request}
                className={row.request === selected.request ? 'pages-row pages-row-selected' : 'pages-row'}
                data-testid={`pages-request-${row.request}`}
                onClick={() => pick(shown.rank, { request: row.request, column: 0 })}
              >
                <th scope="row">
                  <button
                    type="button"
                    className="pages-pick num"
                    aria-pressed={row.request === selected.request}
                    onClick={(event) => {
                      event.stopPropagation()
                      pick(shown.rank, { request: row.request, column: 0 })
                    }}
                  >
                    {row.request < summary.batch ? formatInt(row.request) : `pad ${formatInt(row.request)}`}
                  </button>
                </th>
                <td className="num">{numberText(row.globalLen)}</td>
                <td className="num">{numberText(row.localLen)}</td>
                <td className="num">{formatInt(row.columns)}</td>
                <td className="num">{numberText(row.held)}</td>
                <td className="num">{numberText(row.newest)}</td>
                <td className="num">{slotText(row.newestSlot)}</td>
                <td
                  className={
                    !Number.isNaN(row.writtenSlot) &&
                    !Number.isNaN(row.newestSlot) &&
                    row.writtenSlot !== row.newestSlot
                      ? 'num pages-wrong'
                      : 'num'
                  }
                >
                  {slotText(row.writtenSlot)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

const Cells = ({ pages, selected }: Props) => {
  const { summary, shown, again } = pages
  const paging = pagingFor(pages, selected.request)
  const column = selected.place?.column ?? 0
  const [moved, setMoved] = useState<{ readonly request: number; readonly from: number } | null>(null)
  const from =
    moved !== null && moved.request === selected.request ? moved.from : Math.floor(column / COLUMNS) * COLUMNS
  const { answer } = useAnswer(
    'pageCells',
    {
      source: shown.source,
      requestFrom: selected.request,
      requests: 1,
      columnFrom: from,
      marks: COLUMNS,
      perMark: 1,
    },
    again,
  )
  const cells = answer === null ? [] : cellsIn(answer)
  const firstOf = (cell: Cell): number => firstToken(cell, paging) ?? Number.NaN
  const copied = tabText({ header: CELL_HEADER, rows: cells.map((cell) => cellLine(cell, paging)) })
  const table = useTableSource(`Cells of rank ${shown.rank} request ${selected.request}`, (work) =>
    allCells(pages, selected.request, work),
  )
  return (
    <section aria-label={`Cells of request ${selected.request}`}>
      <Parts
        what={`Cells of request ${formatInt(selected.request)}`}
        from={from}
        size={COLUMNS}
        all={summary.widest}
        onMove={(to) => setMoved({ request: selected.request, from: to })}
        copied={copied}
      />
      <div className="pages-table">
        <table ref={table}>
          <thead>
            <tr>
              <th scope="col">
                <Label text="column" />
              </th>
              <th scope="col" title="The first token of this rank in the page">
                from token
              </th>
              <th scope="col">
                <Label text="page" />
              </th>
              <th scope="col">
                <Label text="first slot" />
              </th>
              <th scope="col">
                <Label text="keys here" />
              </th>
              <th scope="col">taken at</th>
              <th scope="col" className="pages-words">
                state
              </th>
            </tr>
          </thead>
          <tbody>
            {cells.map((cell) => (
              <tr
                key={cell.column}
                className={
                  cell.column === selected.place?.column ? 'pages-row pages-row-selected' : 'pages-row'
                }
                data-testid={`pages-cell-${cell.column}`}
                onClick={() => pick(shown.rank, cell)}
              >
                <th scope="row">
                  <button
                    type="button"
                    className="pages-pick num"
                    aria-pressed={cell.column === selected.place?.column}
                    onClick={(event) => {
                      event.stopPropagation()
                      pick(shown.rank, cell)
                    }}
                  >
                    {formatInt(cell.column)}
                  </button>
                </th>
                <td className="num">{numberText(firstOf(cell))}</td>
                <td className="num">{slotText(cell.page)}</td>
                <td className="num">
                  {cell.page < 0 || paging === null ? '–' : formatInt(cell.page * paging.page)}
                </td>
                <td className="num">{formatInt(cell.valid)}</td>
                <td className="num">{numberText(cell.taken)}</td>
                <td className={isWrong(cell.kind) ? 'pages-words pages-wrong' : 'pages-words'}>
                  {KIND_WORDS[cell.kind]}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}
