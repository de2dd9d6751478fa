import { gridOf, type TensorGrid } from '../../../app/dump/grid.ts'
import { shapeText } from '../../../app/dump/safetensors.ts'
import { TENSORS } from '../../../app/dump/schema.ts'
import type { Measure } from '../../../app/dump/survey.ts'
import type { DumpFile, DumpRank, StoreResult } from '../../../app/protocol/store.ts'
import type { GroupRef } from '../../state/dump-group.ts'
import type { Selection } from '../../state/selection.ts'

export type DumpInfo = StoreResult<'dumpInfo'>
export type DumpGroup = StoreResult<'dumpGroup'>

/** Whether another group than the selected one is shown. */
export const isElsewhere = (shown: GroupRef, { step, layer }: Pick<Selection, 'step' | 'layer'>): boolean =>
  (step !== null && step !== shown.step) || (layer !== null && layer !== shown.layer)

/** A tensor of a group: its ranks have it in one shape and type, others are rows of their own. */
export interface TensorRow {
  readonly name: string
  readonly dtype: string
  readonly shape: readonly number[]
  readonly ranks: readonly DumpRank[]
  /** What it means; null where the format does not have it. */
  readonly doc: string | null
}

const placeOf = (name: string): number => {
  const at = TENSORS.findIndex((tensor) => tensor.name === name)
  return at < 0 ? TENSORS.length : at
}

/** Those of the format first, in its order. */
export const tensorRows = (files: readonly DumpFile[]): TensorRow[] => {
  const rows = new Map<string, TensorRow & { ranks: DumpRank[] }>()
  for (const { rank, tensors } of files)
    for (const { name, dtype, shape } of tensors) {
      // Of the reference all tensors are wider.
      const key = `${name} ${shape} ${rank === 'reference' ? '' : dtype}`
      const same = [...rows.values()].find(
        (row) => rank === 'reference' && row.name === name && String(row.shape) === String(shape),
      )
      const row = same ?? rows.get(key)
      if (row !== undefined) row.ranks.push(rank)
      else {
        const doc = TENSORS.find((tensor) => tensor.name === name)?.doc ?? null
        rows.set(key, { name, dtype, shape, ranks: [rank], doc })
      }
    }
  return [...rows.values()].sort((a, b) => placeOf(a.name) - placeOf(b.name))
}

/** Tensors that can be looked into, each once. */
export const tensorNames = (rows: readonly TensorRow[]): string[] => [
  ...new Set(rows.filter(({ doc }) => doc !== null).map(({ name }) => name)),
]

/** The picked tensor, else what tells most. */
export const chosenTensor = (names: readonly string[], picked: string | null): string | null =>
  names.find((name) => name === picked) ??
  ['out', 'out_kernel', 'merged', 'lse'].find((name) => names.includes(name)) ??
  names[0] ??
  null

/** One rank's part of the shown tensor. */
export interface RankPart {
  readonly rank: DumpRank
  readonly file: DumpFile
  readonly dtype: string
  readonly grid: TensorGrid
}

/** Every rank that has the tensor, in order, the reference last. */
export const rankParts = (files: readonly DumpFile[], tensor: string): RankPart[] =>
  files.flatMap((file) => {
    const entry = file.tensors.find(({ name }) => name === tensor)
    const grid = entry === undefined ? undefined : gridOf(entry)
    return entry === undefined || grid === undefined
      ? []
      : [{ rank: file.rank, file, dtype: entry.dtype, grid }]
  })

/** What can be shown of the cells of a tensor. */
export const measuresOf = ({ grid, dtype }: Pick<RankPart, 'grid' | 'dtype'>): readonly Measure[] =>
  grid.width > 1 ? ['absmax', 'norm', 'nan'] : dtype.startsWith('I') ? ['value'] : ['value', 'nan']

export const chosenMeasure = (part: RankPart, picked: Measure): Measure => {
  const measures = measuresOf(part)
  return measures.find((measure) => measure === picked) ?? measures[0] ?? 'value'
}

export const MEASURE_WORDS: Readonly<Record<Measure, string>> = {
  value: 'value',
  absmax: 'largest |value|',
  norm: 'norm',
  nan: 'NaN and Inf',
}

export interface Place {
  readonly row: number
  readonly column: number
}

const within = (x: number, count: number): number => Math.min(Math.max(0, x), Math.max(0, count - 1))

/** Row of the selected request and query token; the first that fits, else row 0. */
export const rowOf = (
  { request, qIndex }: Pick<DumpGroup, 'request' | 'qIndex'>,
  selection: Pick<Selection, 'request' | 'qIndex'>,
): number => {
  const at = request.findIndex(
    (of, row) =>
      (selection.request === null || of === selection.request) &&
      (selection.qIndex === null || qIndex[row] === selection.qIndex),
  )
  return Math.max(0, at)
}

type Chosen = Pick<Selection, 'request' | 'qIndex' | 'head'>

/** First head of the attention call that column 0 of a rank's part is. */
const firstHead = ({ file }: RankPart, tensor: string): number =>
  tensor === 'merged' ? file.firstKeptHead : 0

/** The picked cell of a rank's part; null where the rank does not have it. */
export const cellOf = (
  part: RankPart,
  tensor: string,
  group: DumpGroup,
  selection: Chosen,
  place: Place,
): Place | null => {
  const { rows, columns, rowName, columnName } = part.grid
  const row =
    rowName === 'row'
      ? rowOf(group, selection)
      : rowName === 'request'
        ? within(selection.request ?? 0, rows)
        : within(place.row, rows)
  const column =
    columnName === 'head' ? (selection.head ?? 0) - firstHead(part, tensor) : within(place.column, columns)
  return row < rows && column >= 0 && column < columns ? { row, column } : null
}

/** What is selected, and kept apart, when a cell of a rank's part is picked. */
export const pickOf = (
  part: RankPart,
  tensor: string,
  group: DumpGroup,
  cell: Place,
): { readonly selection: Partial<Selection>; readonly place: Place } => {
  const { rowName, columnName } = part.grid
  return {
    selection: {
      ...(part.rank === 'reference' ? {} : { rank: part.rank }),
      ...(rowName === 'row'
        ? { request: group.request[cell.row] ?? null, qIndex: group.qIndex[cell.row] ?? null }
        : rowName === 'request'
          ? { request: cell.row }
          : {}),
      ...(columnName === 'head' ? { head: cell.column + firstHead(part, tensor) } : {}),
    },
    place: cell,
  }
}

/** The cell that an arrow key leads to. */
export const movedCell = ({ rows, columns }: TensorGrid, from: Place, by: Place): Place => ({
  row: within(from.row + by.row, rows),
  column: within(from.column + by.column, columns),
})

/** The entry `by` behind the present one, without going round; the first where none is. */
export const neighbour = <T>(all: readonly T[], now: T | null, by: number): T | undefined => {
  const at = now === null ? -1 : all.indexOf(now)
  return at < 0 ? all[0] : all[within(at + by, all.length)]
}

/** A cell in words: `row 3 (request 1, query 1), head 5`. */
export const cellText = (
  part: RankPart,
  tensor: string,
  group: DumpGroup,
  { row, column }: Place,
): string => {
  const { rowName, columnName, columns } = part.grid
  const of = rowName === 'row' ? ` (request ${group.request[row] ?? 0}, query ${group.qIndex[row] ?? 0})` : ''
  const second =
    columns === 1 ? '' : `, ${columnName} ${column + (columnName === 'head' ? firstHead(part, tensor) : 0)}`
  return `${rowName} ${row}${of}${second}`
}

export const rankName = (rank: DumpRank): string => (rank === 'reference' ? 'reference' : `rank ${rank}`)

/** `out` is [4, 16, 512] of BF16. */
export const typeText = ({ shape, dtype }: Pick<TensorRow, 'shape' | 'dtype'>): string =>
  `${shapeText(shape)} ${dtype}`
