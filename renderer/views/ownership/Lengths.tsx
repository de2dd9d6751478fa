import type { Balance } from '../../../app/dcp/balance.ts'
import { type LayoutRequest, layoutOf } from '../../../app/dcp/layout.ts'
import { RankChip } from '../../controls/RankChip.tsx'
import { formatInt } from '../../drawing/format.ts'
import { useSelection } from '../../state/selection.ts'
import { rankColour } from '../../theme/colours.ts'
import { useTheme } from '../../theme/use-theme.ts'
import { Batch } from './Batch.tsx'
import { type EngineLengths, lengthsAgree } from './engine-lengths.ts'

interface Props {
  readonly layout: LayoutRequest
  readonly recorded: EngineLengths | null
  /** Who recorded them. */
  readonly by: 'the engine' | 'the dump'
  /** Lengths at the step before. */
  readonly before: EngineLengths | null
  readonly balance: Balance | null
  /** Keys that a query token attends to at most; null when it attends to all. */
  readonly topk: number | null
}

/** Local length of each rank, as the engine counted it where it is known, and whether together they are the length. */
export const Lengths = ({ layout, recorded, by, before, balance, topk }: Props) => {
  const theme = useTheme()
  const selected = useSelection((s) => s.rank)
  const select = useSelection((s) => s.select)
  const { ranks, newestOwner, len } = layoutOf(layout)
  const counted = ranks.map(({ rank, localLen }) => recorded?.localLens[rank] ?? localLen)
  const longest = Math.max(1, ...counted)
  const sum = counted.reduce((total, held) => total + held, 0)
  return (
    <aside className="ownership-lengths" aria-label="Local lengths">
      <header className="ownership-lengths-head">
        <span>rank</span>
        <span className="num">local length</span>
        <span className="num">pages</span>
      </header>
      <ul>
        {ranks.map(({ rank, localPages }) => (
          <li key={rank}>
            <button
              type="button"
              className="ownership-length"
              aria-pressed={selected === rank}
              data-testid={`ownership-length-${rank}`}
              onClick={() => select({ rank: selected === rank ? null : rank })}
            >
              <span className="ownership-newest" title="owner of the newest token">
                {rank === newestOwner ? '▸' : ''}
              </span>
              <RankChip rank={rank} />
              <span className="ownership-length-bar">
                <span
                  style={{
                    width: `${((counted[rank] ?? 0) / longest) * 100}%`,
                    background: rankColour(rank, theme),
                  }}
                />
              </span>
              <span className="num">
                {grownText(recorded, before, rank)}
                {formatInt(counted[rank] ?? 0)}
              </span>
              <span className="num ownership-length-pages">{formatInt(localPages)}</span>
            </button>
          </li>
        ))}
      </ul>
      <footer>
        {newestOwner === null ? null : (
          <p data-testid="ownership-newest">
            <span className="ownership-newest">▸</span> newest token on rank {newestOwner}
          </p>
        )}
        <p>
          <span>sum</span>
          <span className="num" data-testid="ownership-sum">
            {formatInt(sum)}
          </span>
        </p>
        <Verdict
          ok={sum === len}
          yes={`is the length, ${formatInt(len)}`}
          no={`is not the length, ${formatInt(len)}`}
        />
        {recorded === null ? null : (
          <Verdict
            ok={lengthsAgree(
              recorded,
              len,
              ranks.map((r) => r.localLen),
            )}
            yes={`${by} recorded the same lengths`}
            no={`the rule gives ${ranks.map((r) => formatInt(r.localLen)).join(', ')}`}
          />
        )}
        {topk === null ? null : <Sparse topk={topk} recorded={recorded} />}
      </footer>
      {balance === null ? null : <Batch balance={balance} />}
    </aside>
  )
}

/** `+1 ` where a rank grew since the step before. */
const grownText = (recorded: EngineLengths | null, before: EngineLengths | null, rank: number) => {
  const grown = (recorded?.localLens[rank] ?? 0) - (before?.localLens[rank] ?? 0)
  return recorded === null || before === null || grown === 0 ? null : (
    <span className="ownership-grown" title="since the step before" data-testid={`ownership-grown-${rank}`}>
      {grown > 0 ? '+' : '−'}
      {formatInt(Math.abs(grown))}{' '}
    </span>
  )
}

/** More numbers than this are no longer read; the inspector of a row in Merge has them. */
const MOST_NUMBERS = 16

/** All tokens lie on the ranks, but attention reads few of them. */
const Sparse = ({ topk, recorded }: Pick<Props, 'recorded'> & { readonly topk: number }) => {
  const keys = recorded?.attended ?? []
  return (
    <>
      <p data-testid="ownership-sparse">
        Sparse: each query token attends to {formatInt(topk)} of these tokens at most, chosen anew in every
        layer.
      </p>
      {keys.length === 0 || keys.length > MOST_NUMBERS ? null : (
        <p title="Keys that the last query token attends to on each rank, in layer 0">
          <span>keys, layer 0</span>
          <span className="num" data-testid="ownership-attended">
            {keys.map(formatInt).join(' + ')}
          </span>
        </p>
      )}
    </>
  )
}

const Verdict = ({ ok, yes, no }: { readonly ok: boolean; readonly yes: string; readonly no: string }) => (
  <p className={ok ? 'ownership-verdict ownership-ok' : 'ownership-verdict ownership-bad'}>
    <span aria-hidden="true">{ok ? '✓' : '✗'}</span> {ok ? yes : no}
  </p>
)
