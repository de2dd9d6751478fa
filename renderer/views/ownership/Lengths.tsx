import { type LayoutRequest, layoutOf } from '../../../app/dcp/layout.ts'
import { RankChip } from '../../controls/RankChip.tsx'
import { formatInt } from '../../drawing/format.ts'
import { useSelection } from '../../state/selection.ts'
import { rankColour } from '../../theme/colours.ts'
import { useTheme } from '../../theme/use-theme.ts'
import { type EngineLengths, lengthsAgree } from './engine-lengths.ts'

interface Props {
  readonly layout: LayoutRequest
  readonly recorded: EngineLengths | null
  /** Keys that a query token attends to at most; null when it attends to all. */
  readonly topk: number | null
}

/** Local length of each rank, and that together they are the length. */
export const Lengths = ({ layout, recorded, topk }: Props) => {
  const theme = useTheme()
  const { rank: selected, select } = useSelection()
  const { ranks, newestOwner, len } = layoutOf(layout)
  const longest = Math.max(1, ...ranks.map((r) => r.localLen))
  const sum = ranks.reduce((total, r) => total + r.localLen, 0)
  return (
    <aside className="ownership-lengths" aria-label="Local lengths">
      <header className="ownership-lengths-head">
        <span>rank</span>
        <span className="num">local length</span>
        <span className="num">pages</span>
      </header>
      <ul>
        {ranks.map(({ rank, localLen, localPages }) => (
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
                  style={{ width: `${(localLen / longest) * 100}%`, background: rankColour(rank, theme) }}
                />
              </span>
              <span className="num">{formatInt(localLen)}</span>
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
            yes="the engine recorded the same lengths"
            no={`the engine recorded ${recorded.localLens.map(formatInt).join(', ')}`}
          />
        )}
        {topk === null ? null : <Sparse topk={topk} recorded={recorded} />}
      </footer>
    </aside>
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
