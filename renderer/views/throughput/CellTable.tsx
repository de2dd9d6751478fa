import { type Table, tabText } from '../../../app/messages/csv.ts'
import { arrangementName } from '../../../app/sweep/spots.ts'
import { LIMIT_WORDS, VERDICT_WORDS } from '../../../app/sweep/words.ts'
import type { Manifest } from '../../../app/trace/manifest.ts'
import { SourceBadge } from '../../controls/SourceBadge.tsx'
import { formatFloat, formatInt, formatRate } from '../../drawing/format.ts'
import { useTableSource } from '../../export/table-source.ts'
import { CopyButton } from '../../shell/CopyButton.tsx'
import type { CellRow, Place } from './model.ts'
import { spotSource } from './source.ts'
import { cellTable } from './table-text.ts'
import { gainText, intervalText } from './words.ts'

/** The cell as lines with tabs, below what it is. */
const copyText = ({ context, concurrency }: Place, table: Table): string =>
  `context ${context}, concurrency ${concurrency}\n${tabText(table)}`

const ms = (value: number): string => (Number.isNaN(value) ? '–' : formatRate(value))

interface Props {
  readonly place: Place | null
  readonly rows: readonly CellRow[]
  readonly picked: CellRow | null
  readonly manifest: Manifest
  readonly onPick: (name: string) => void
}

/** Every arrangement of the selected cell: rates of all repeats, where a step goes, and what the cost model says of it. */
export const CellTable = ({ place, rows, picked, manifest, onPick }: Props) => {
  const table = useTableSource(
    place === null ? 'Cell' : `Cell of context ${place.context} concurrency ${place.concurrency}`,
    () => cellTable(rows, manifest),
  )
  if (place === null)
    return (
      <section className="throughput-part" aria-label="Selected cell">
        <h3>Selected cell</h3>
        <p className="quiet">
          Click a cell of the map or a curve, or press an arrow key; its numbers stand here.
        </p>
      </section>
    )
  const { context, concurrency, cell, why } = place
  const beside = rows.some(({ predicted }) => predicted !== null)
  return (
    <section className="throughput-part" aria-label="Selected cell" data-testid="cell">
      <h3>
        <span>
          Context <span className="num">{formatInt(context)}</span>, concurrency{' '}
          <span className="num">{formatInt(concurrency)}</span>
        </span>
        <span className="field-unit" data-testid="cell-verdict">
          {cell === null
            ? why
            : `${arrangementName(cell.best)} ${intervalText(cell)}: ${VERDICT_WORDS[cell.verdict]}`}
        </span>
        {rows.length === 0 ? null : (
          <CopyButton
            text={copyText(place, cellTable(rows, manifest))}
            what="the cell"
            label="Copy"
            className="button button-quiet throughput-copy"
            testId="copy-cell"
          />
        )}
      </h3>
      {rows.length === 0 ? null : (
        <div className="throughput-scroll">
          <table ref={table} className="cell-table" data-testid="cell-table">
            <thead>
              <tr>
                <th scope="col">arrangement</th>
                <th scope="col">tokens/s</th>
                <th scope="col">each repeat</th>
                <th scope="col">over tp</th>
                <th scope="col">step ms</th>
                <th scope="col" title="Attention of a rank, a step">
                  attn
                </th>
                <th scope="col" title="Transfer in collectives of a rank, a step">
                  comm
                </th>
                <th scope="col" title="Waiting in collectives of a rank, a step">
                  wait
                </th>
                {beside ? (
                  <th
                    scope="col"
                    title="Step by the cost model, for this device, and that over the measured one"
                  >
                    step ms <SourceBadge source="predicted" />
                  </th>
                ) : null}
                <th scope="col" title="By the cost model">
                  limit
                </th>
                <th scope="col" title="Requests that run at once, of those asked for">
                  batch
                </th>
                <th scope="col">source</th>
              </tr>
            </thead>
            <tbody>
              {rows.map(({ spot, predicted, gain }) => {
                const name = arrangementName(spot)
                const isPicked = picked?.spot === spot
                return (
                  <tr
                    key={name}
                    className={isPicked ? 'cell-row cell-picked' : 'cell-row'}
                    data-testid={`cell-${name.replace(' ', '-')}`}
                    onClick={() => onPick(name)}
                  >
                    <th scope="row">
                      <button
                        type="button"
                        className="cell-name"
                        aria-pressed={isPicked}
                        title="Show it in the inspector"
                      >
                        {name}
                      </button>
                    </th>
                    <td title={String(spot.tokensPerSecond)} data-value={spot.tokensPerSecond}>
                      {formatRate(spot.tokensPerSecond)}
                    </td>
                    <td>
                      {spot.kind === 'measured'
                        ? spot.rows.map((row) => formatRate(row.tokensPerSecond)).join('  ')
                        : '–'}
                    </td>
                    <td>{gain === null ? '' : gainText(gain)}</td>
                    <td title={`${spot.stepMs} ms, p95 ${spot.stepMsP95} ms`}>{ms(spot.stepMs)}</td>
                    {[spot.attnMs, spot.commMs, spot.waitMs].map((part, i) => (
                      // biome-ignore lint/suspicious/noArrayIndexKey: always the same three
                      <td key={i} title={`${part} ms`}>
                        {ms(part)}
                      </td>
                    ))}
                    {beside ? (
                      <td>
                        {predicted === null
                          ? '–'
                          : `${ms(predicted.stepMs)}  ×${formatFloat(predicted.stepMs / spot.stepMs, 2)}`}
                      </td>
                    ) : null}
                    <td
                      className="cell-word"
                      title={spot.limit === '' ? undefined : `${LIMIT_WORDS[spot.limit]}, by the cost model`}
                    >
                      {spot.limit === '' ? '–' : spot.limit}
                    </td>
                    <td title={`The KV pool holds ${formatInt(spot.capacityTokens)} tokens`}>
                      {spot.capacityLimited
                        ? `${formatInt(spot.batch)} of ${formatInt(concurrency)}`
                        : formatInt(spot.batch)}
                    </td>
                    <td className="cell-word">
                      <SourceBadge source={spotSource(spot, manifest)} />
                    </td>
                  </tr>
                )
              })}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}
