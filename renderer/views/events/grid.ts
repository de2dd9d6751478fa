import { BAD_ROW_KINDS, type BadRowKind } from '../../../app/events/row-kinds.ts'
import type { StoreResult } from '../../../app/protocol/store.ts'
import { formatInt } from '../../drawing/format.ts'

export type FirstCause = StoreResult<'firstCause'>

/** What a merged row of a column is: NaN, or off the reference. */
export type MergedMark = 'nan' | 'off'

export interface GridCell {
  readonly column: number
  readonly rank: number
  /** Bad rows of the rank's partials. */
  readonly rows: number
  readonly kind: BadRowKind
}

/** Where bad values are: ranks by columns, which are layers of a step or parts of the steps, and the merged rows below. */
export interface SpreadGrid {
  readonly ranks: number
  readonly columns: number
  readonly cells: readonly GridCell[]
  readonly merged: readonly { readonly column: number; readonly mark: MergedMark }[]
  /** Column of the first cause, and the ranks that it names; null where there is none here. */
  readonly cause: { readonly column: number; readonly ranks: readonly number[] } | null
  /** What a column is, or those from one to another. */
  readonly columnWord: (first: number, last?: number) => string
}

/** Parts of the steps that the picture asks for at most. */
export const CAUSE_PARTS = 96

const cellsOf = (
  columns: ArrayLike<number>,
  { rank, rows, kind }: Pick<FirstCause['layers'], 'rank' | 'rows' | 'kind'>,
): GridCell[] =>
  Array.from(rank, (of, i) => ({
    column: columns[i] ?? 0,
    rank: of,
    rows: rows[i] ?? 0,
    kind: BAD_ROW_KINDS[kind[i] ?? 0] ?? 'empty_row_left',
  }))

/** The place that the cause names: that of its merged row, else of its first partial. */
export const placeOfCause = ({ cause }: FirstCause) => {
  switch (cause.kind) {
    case 'none':
      return null
    case 'harmless':
      return { ...cause.first, ranks: [cause.first.rank] }
    case 'partial':
      return { ...cause.merged, ranks: cause.partials.map(({ rank }) => rank) }
    case 'finite':
      return { ...cause.merged, ranks: cause.suspects.map(({ rank }) => rank) }
    case 'merge':
      return { ...cause.merged, ranks: [] }
  }
}

const rangeWord = (noun: string, first: number, last: number): string =>
  first === last ? `${noun} ${formatInt(first)}` : `${noun}s ${formatInt(first)} to ${formatInt(last)}`

/** Layers of the step of the cause. */
export const layerGrid = (found: FirstCause, ranks: number, layers: number): SpreadGrid => {
  const { cause } = found
  const place = placeOfCause(found)
  const mark: MergedMark = 'merged' in cause && cause.merged.kind === 'nan_in_merged' ? 'nan' : 'off'
  return {
    ranks,
    columns: layers,
    cells: cellsOf(found.layers.layer, found.layers),
    merged: Array.from(found.layers.mergedLayers, (column) => ({ column, mark })),
    cause: place === null ? null : { column: place.layer, ranks: place.ranks },
    columnWord: (first, last = first) => rangeWord('layer', first, last),
  }
}

/** Parts of the steps of the whole run. */
export const stepGrid = (found: FirstCause, ranks: number): SpreadGrid => {
  const { steps } = found
  const { perBucket } = steps
  const place = placeOfCause(found)
  const marks = Array.from(steps.nanMerged, (nan, column) => ({
    column,
    nan,
    off: steps.offReference[column] ?? 0,
  }))
  return {
    ranks,
    columns: steps.nanMerged.length,
    cells: cellsOf(steps.bucket, steps),
    merged: marks
      .filter(({ nan, off }) => nan > 0 || off > 0)
      .map(({ column, nan }) => ({ column, mark: nan > 0 ? 'nan' : 'off' })),
    cause: place === null ? null : { column: Math.floor(place.step / perBucket), ranks: place.ranks },
    columnWord: (first, last = first) =>
      rangeWord('step', first * perBucket, Math.min(steps.steps, (last + 1) * perBucket) - 1),
  }
}

const KIND_SHORT: Readonly<Record<BadRowKind, string>> = {
  nan_in_row: 'NaN, with keys',
  inf_in_row: 'Inf, with keys',
  lse_in_row: 'lse NaN or +∞, with keys',
  empty_row_left: 'no keys, not neutral',
}

export const kindShort = (kind: BadRowKind): string => KIND_SHORT[kind]

export const cellText = ({ columnWord }: SpreadGrid, cell: GridCell): string =>
  `rank ${cell.rank}, ${columnWord(cell.column)}: ${formatInt(cell.rows)} bad ${cell.rows === 1 ? 'row' : 'rows'} (${kindShort(cell.kind)})`

export const markText = (mark: MergedMark): string => (mark === 'nan' ? 'NaN' : 'off the reference')

/** Columns that follow each other as ranges. */
const rangesOf = (columns: readonly number[]): (readonly [number, number])[] => {
  const ranges: [number, number][] = []
  for (const column of [...columns].sort((a, b) => a - b)) {
    const last = ranges.at(-1)
    if (last !== undefined && column <= last[1] + 1) last[1] = column
    else ranges.push([column, column])
  }
  return ranges
}

const rangesText = ({ columnWord }: SpreadGrid, columns: readonly number[]): string =>
  rangesOf(columns)
    .map(([first, last]) => columnWord(first, last))
    .join(', ')

/** The picture in lines: of each rank with bad rows, and of the merged rows, where they are. */
export const gridText = (grid: SpreadGrid): string[] => {
  const ranks = [...new Set(grid.cells.map(({ rank }) => rank))].sort((a, b) => a - b)
  const ofRank = (rank: number): string => {
    const cells = grid.cells.filter((cell) => cell.rank === rank)
    const rows = cells.reduce((total, cell) => total + cell.rows, 0)
    const kinds = BAD_ROW_KINDS.filter((kind) => cells.some((cell) => cell.kind === kind)).map(kindShort)
    return `rank ${rank}: ${formatInt(rows)} bad ${rows === 1 ? 'row' : 'rows'} (${kinds.join('; ')}) in ${rangesText(
      grid,
      cells.map(({ column }) => column),
    )}`
  }
  const marks = (['nan', 'off'] as const).flatMap((mark) => {
    const columns = grid.merged.filter((one) => one.mark === mark).map(({ column }) => column)
    return columns.length === 0 ? [] : [`merged: ${markText(mark)} in ${rangesText(grid, columns)}`]
  })
  return [...ranks.map(ofRank), ...marks]
}

/** The totals of the run in a sentence or two. */
export const totalsText = ({ totals, steps }: FirstCause): string => {
  const { rows, ranks, nanSteps, offSteps } = totals
  const partials =
    rows === 0
      ? 'no bad rows of partials'
      : `${formatInt(rows)} bad ${rows === 1 ? 'row' : 'rows'} of partials in ${formatInt(totals.steps)} of ${formatInt(steps.steps)} steps, on ${ranks.length === 1 ? `rank ${ranks[0]}` : `${ranks.length} ranks`}, in ${formatInt(totals.layers)} ${totals.layers === 1 ? 'layer' : 'layers'} and ${formatInt(totals.requests)} ${totals.requests === 1 ? 'request' : 'requests'}`
  const merged = [
    ...(nanSteps > 0
      ? [`merged rows NaN in ${formatInt(nanSteps)} ${nanSteps === 1 ? 'step' : 'steps'}`]
      : []),
    ...(offSteps > 0
      ? [`off the reference in ${formatInt(offSteps)} ${offSteps === 1 ? 'step' : 'steps'}`]
      : []),
  ]
  return `Whole run: ${[partials, ...merged].join('; ')}.`
}
