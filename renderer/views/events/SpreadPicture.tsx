import { useId, useState } from 'react'
import { BAD_ROW_KINDS, type BadRowKind } from '../../../app/events/row-kinds.ts'
import { rankColour, rankInk } from '../../theme/colours.ts'
import { useTheme } from '../../theme/use-theme.ts'
import { gridText, type SpreadGrid } from './grid.ts'
import { MERGED_HEIGHT, spotText, spreadGeometry, spreadHit } from './spread-geometry.ts'

/** Every n-th label, so that they stay readable. */
const every = (pitch: number, room: number): number => Math.max(1, Math.ceil(room / pitch))

/** Textures of kinds of bad rows: NaN as everywhere a check, so that they are told apart without colour. */
const Textures = ({ id }: { readonly id: string }) => (
  <defs>
    <pattern id={`${id}-nan_in_row`} width="6" height="6" patternUnits="userSpaceOnUse">
      <rect width="6" height="6" className="texture-nan-back" />
      <path d="M0 0h3v3H0zM3 3h3v3H3z" className="texture-bad" />
    </pattern>
    <pattern id={`${id}-inf_in_row`} width="6" height="6" patternUnits="userSpaceOnUse">
      <rect width="6" height="6" className="texture-bad" />
    </pattern>
    <pattern id={`${id}-lse_in_row`} width="4" height="4" patternUnits="userSpaceOnUse">
      <path d="M0 0h4v2H0z" className="texture-bad" />
    </pattern>
    <pattern
      id={`${id}-empty_row_left`}
      width="4"
      height="4"
      patternUnits="userSpaceOnUse"
      patternTransform="rotate(45)"
    >
      <path d="M0 0h2v4H0z" className="texture-warn" />
    </pattern>
  </defs>
)

const LEGEND: Readonly<Record<BadRowKind, string>> = {
  nan_in_row: 'NaN',
  inf_in_row: 'Inf',
  lse_in_row: 'lse NaN or +∞',
  empty_row_left: 'no keys, not neutral',
}

interface Props {
  readonly title: string
  readonly grid: SpreadGrid
  readonly testId: string
  /** What it does not show. */
  readonly note?: string
  /** A cell, or a merged row (rank null), is picked. */
  readonly onPick: (column: number, rank: number | null) => void
}

/** Ranks by layers or steps: where partials are bad, the merged rows below, and the first cause framed. Its text twin is `gridText`. */
export const SpreadPicture = ({ title, grid, testId, note, onPick }: Props) => {
  const theme = useTheme()
  const id = useId()
  const [hover, setHover] = useState<string | null>(null)
  const place = spreadGeometry(grid)
  const { left, top, mergedTop, pitch, column, gap, width, height } = place
  const x = (at: number): number => left + at * column
  const labels = every(pitch, 11)
  const ticks = every(column, 34)
  const fill = (kind: BadRowKind): string => `url(#${id}-${kind})`
  const kinds = BAD_ROW_KINDS.filter((kind) => grid.cells.some((cell) => cell.kind === kind))
  const hitAt = (event: React.PointerEvent<SVGSVGElement>) => {
    const box = event.currentTarget.getBoundingClientRect()
    const scale = width / box.width
    return spreadHit(grid, place, (event.clientX - box.left) * scale, (event.clientY - box.top) * scale)
  }
  return (
    <figure className="spread" data-testid={testId}>
      <figcaption>
        <b title={note}>{title}</b> <span className="events-note">{hover ?? ''}</span>
      </figcaption>
      <svg
        role="img"
        aria-label={`${title}: ${gridText(grid).join('; ') || 'nothing bad'}`}
        viewBox={`0 0 ${width} ${height}`}
        onPointerMove={(event) => {
          const hit = hitAt(event)
          setHover(hit === null ? null : spotText(grid, hit))
        }}
        onPointerUp={(event) => {
          const hit = hitAt(event)
          if (hit !== null) onPick(hit.column, hit.rank)
        }}
        onPointerLeave={() => setHover(null)}
      >
        <Textures id={id} />
        {Array.from({ length: grid.columns }, (_, at) =>
          at % ticks === 0 ? (
            // biome-ignore lint/suspicious/noArrayIndexKey: a column is its place
            <text key={at} x={x(at)} y={9} className="spread-tick">
              {grid
                .columnWord(at)
                .replace(/^(layer|steps?) /, '')
                .replace(/ to .*$/, '')}
            </text>
          ) : null,
        )}
        {Array.from({ length: grid.ranks }, (_, rank) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a rank is its place
          <g key={rank}>
            <rect
              className="spread-row"
              x={left}
              y={top + rank * pitch}
              width={grid.columns * column}
              height={pitch - 1}
            />
            {rank % labels === 0 ? (
              <>
                <rect
                  x={left - 24}
                  y={top + rank * pitch}
                  width={19}
                  height={Math.min(pitch - 1, 13)}
                  fill={rankColour(rank, theme)}
                />
                {pitch >= 11 ? (
                  <text
                    x={left - 14.5}
                    y={top + rank * pitch + pitch / 2 + 3}
                    className="spread-rank"
                    fill={rankInk(rank, theme)}
                  >
                    {rank}
                  </text>
                ) : (
                  <text x={left - 28} y={top + rank * pitch + 8} className="spread-name">
                    {rank}
                  </text>
                )}
              </>
            ) : null}
          </g>
        ))}
        {grid.cells.map((cell) => (
          <rect
            key={`${cell.rank} ${cell.column}`}
            x={x(cell.column)}
            y={top + cell.rank * pitch}
            width={Math.max(1.5, column - gap)}
            height={pitch - 1}
            fill={fill(cell.kind)}
          />
        ))}
        <text x={left - 5} y={mergedTop + 10} className="spread-name">
          merged
        </text>
        <rect
          className="spread-row"
          x={left}
          y={mergedTop}
          width={grid.columns * column}
          height={MERGED_HEIGHT}
        />
        {grid.merged.map(({ column: at, mark }) => (
          <rect
            key={at}
            className={mark === 'off' ? 'spread-off' : undefined}
            x={x(at)}
            y={mark === 'off' ? mergedTop + 4 : mergedTop}
            width={Math.max(1.5, column - gap)}
            height={mark === 'off' ? 5 : MERGED_HEIGHT}
            fill={mark === 'off' ? undefined : fill('nan_in_row')}
          />
        ))}
        {grid.cause === null
          ? null
          : (grid.cause.ranks.length > 0 ? grid.cause.ranks : [null]).map((rank) => (
              <rect
                key={rank}
                className="spread-cause"
                x={x(grid.cause?.column ?? 0) - 1}
                y={(rank === null ? mergedTop : top + rank * pitch) - 1}
                width={Math.max(4, column - gap + 2)}
                height={(rank === null ? MERGED_HEIGHT : pitch - 1) + 2}
              />
            ))}
      </svg>
      <ul className="spread-legend" aria-label="Textures">
        {kinds.map((kind) => (
          <li key={kind}>
            <svg width="14" height="10" aria-hidden="true">
              <rect width="14" height="10" className="spread-row" />
              <rect width="14" height="10" fill={fill(kind)} />
            </svg>
            {LEGEND[kind]}
          </li>
        ))}
        {grid.merged.some(({ mark }) => mark === 'off') ? (
          <li>
            <svg width="14" height="10" aria-hidden="true">
              <rect width="14" height="10" className="spread-row" />
              <rect y="3" width="14" height="4" className="spread-off" />
            </svg>
            off the reference
          </li>
        ) : null}
        {grid.cause === null ? null : (
          <li>
            <svg width="14" height="10" aria-hidden="true">
              <rect x="1" y="1" width="12" height="8" className="spread-cause" />
            </svg>
            first
          </li>
        )}
      </ul>
    </figure>
  )
}
