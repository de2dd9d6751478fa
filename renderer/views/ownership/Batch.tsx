import type { Balance } from '../../../app/dcp/balance.ts'
import { RankChip } from '../../controls/RankChip.tsx'
import { formatInt, formatPercent } from '../../drawing/format.ts'
import { useTableSource } from '../../export/table-source.ts'
import { rankColour } from '../../theme/colours.ts'
import { useTheme } from '../../theme/use-theme.ts'

/** How the whole batch lies on the ranks: who has how many keys, who has none of a request, who has none at all. */
export const Batch = ({ balance }: { readonly balance: Balance }) => {
  const theme = useTheme()
  const { ranks, requests, most, least, share, idle } = balance
  const table = useTableSource('Balance of the batch', () => ({
    header: ['rank', 'keys_tokens', 'behind_the_fullest_tokens', 'requests_without_keys'],
    rows: ranks.map(({ rank, tokens, empty }) => [rank, tokens, most - tokens, empty]),
  }))
  return (
    <section className="ownership-batch" aria-label="Balance of the batch" data-testid="ownership-batch">
      <h3>
        Batch{' '}
        <span className="num">
          {formatInt(requests)} {requests === 1 ? 'request' : 'requests'}
        </span>
      </h3>
      <table ref={table}>
        <thead>
          <tr>
            <th scope="col">rank</th>
            <th scope="col" aria-label="Share of the fullest rank" />
            <th scope="col" className="num" title="Keys of all requests">
              keys
            </th>
            <th scope="col" className="num" title="Keys fewer than the fullest rank has">
              behind
            </th>
            <th scope="col" className="num" title="Requests of which the rank holds no key">
              empty
            </th>
          </tr>
        </thead>
        <tbody>
          {ranks.map(({ rank, tokens, empty }) => (
            <tr key={rank} data-testid={`ownership-batch-${rank}`}>
              <th scope="row">
                <RankChip rank={rank} />
              </th>
              <td className="ownership-batch-bar" aria-hidden="true">
                <span
                  style={{
                    width: `${most === 0 ? 0 : (100 * tokens) / most}%`,
                    background: rankColour(rank, theme),
                  }}
                />
              </td>
              <td className="num">{formatInt(tokens)}</td>
              <td className="num">{formatInt(most - tokens)}</td>
              <td className="num">{formatInt(empty)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="quiet">
        {idle.length === 0
          ? `The emptiest rank is ${formatInt(most - least)} keys behind the fullest; attention is busy ${formatPercent(share)} of the time of the fullest.`
          : `${idle.length === 1 ? 'Rank' : 'Ranks'} ${idle.join(', ')} ${idle.length === 1 ? 'holds' : 'hold'} no key of any request.`}
      </p>
    </section>
  )
}
