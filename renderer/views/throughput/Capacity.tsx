import { tabText } from '../../../app/messages/csv.ts'
import { poolsOf } from '../../../app/sweep/pool.ts'
import { formatInt } from '../../drawing/format.ts'
import { useTableSource } from '../../export/table-source.ts'
import { CopyButton } from '../../shell/CopyButton.tsx'
import type { PictureProps } from './picture.ts'
import { capacityTable } from './picture-tables.ts'
import { tokensText } from './words.ts'

/** What the KV pools of every arrangement hold: tokens, and requests of each context at once. */
export const Capacity = ({ model, marks }: PictureProps) => {
  const pools = poolsOf(
    model.arrangements,
    [...model.points.values()].filter(
      ({ kvDtype, qLen }) => kvDtype === model.facet.kvDtype && qLen === model.facet.qLen,
    ),
    model.contexts,
  )
  const table = useTableSource('KV capacity', () => capacityTable(pools))
  const most = Math.max(1, ...pools.map(({ tokens }) => tokens))
  const asked = Math.max(...model.concurrencies)
  if (pools.length === 0)
    return <p className="quiet throughput-none">No arrangement of this cache has a pool that is known.</p>
  return (
    <>
      <h3>
        KV capacity
        <span className="field-unit">
          computed, not measured: requests that the KV pools hold at once, by context; ▾: fewer than the{' '}
          {formatInt(asked)} asked for, others wait; memory and weights stand under Points
        </span>
        <CopyButton
          text={tabText(capacityTable(pools))}
          what="the capacities"
          label="Copy"
          className="button button-quiet throughput-copy"
          testId="copy-capacity"
        />
      </h3>
      <div className="throughput-scroll">
        <table ref={table} className="cell-table" data-testid="capacity-table">
          <thead>
            <tr>
              <th scope="col">arrangement</th>
              <th scope="col">tokens</th>
              <th scope="col">
                <span className="visually-hidden">share of the largest pool</span>
              </th>
              {model.contexts.map((context) => (
                <th key={context} scope="col" title={`${formatInt(context)} tokens`}>
                  {tokensText(context)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {pools.map(({ name, tokens, held }) => {
              const mark = marks.get(name)
              return (
                <tr key={name} data-testid={`capacity-${name.replace(' ', '-')}`}>
                  <th scope="row">{name}</th>
                  <td title={`${tokens} tokens`}>{formatInt(tokens)}</td>
                  <td className="capacity-share">
                    {mark === undefined ? null : (
                      <svg width="100%" height="12" aria-hidden="true">
                        <rect width={`${(100 * tokens) / most}%`} height="12" fill={mark.colour} />
                      </svg>
                    )}
                  </td>
                  {held.map(({ context, requests }) => (
                    <td
                      key={context}
                      className={requests < asked ? 'capacity-short' : undefined}
                      title={
                        requests < asked
                          ? `${formatInt(requests)} at once, fewer than the ${formatInt(asked)} asked for`
                          : undefined
                      }
                    >
                      {requests === 0 ? 'none' : formatInt(requests)}
                      {requests < asked ? ' ▾' : ''}
                    </td>
                  ))}
                </tr>
              )
            })}
          </tbody>
        </table>
      </div>
    </>
  )
}
