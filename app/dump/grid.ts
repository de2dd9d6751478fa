import { DS_MLA_BYTES, DS_MLA_VALUES } from './ds-mla.ts'
import type { TensorReader } from './reader.ts'
import { elementCount } from './safetensors.ts'
import { type Dim, TENSORS } from './schema.ts'

/**
 * A tensor as cells: `rows` by `columns`, each of `width` values. [T, H, W] is T rows of H heads of W values; pages of a
 * cache are rows of slots, each with the values of one token, decoded and scaled; [B] is B rows of one column.
 */
export interface TensorGrid {
  readonly rows: number
  readonly columns: number
  readonly width: number
  /** What a row and a column are: `row` (a query token), `head`, `request`, `page`, .. */
  readonly rowName: string
  readonly columnName: string
}

const NAMES: Readonly<Record<string, string>> = {
  T: 'row',
  H: 'head',
  'kept heads': 'head',
  B: 'request',
  'B + 1': 'request',
  columns: 'column',
  K: 'choice',
  pages: 'page',
  P: 'slot',
}

const nameOf = (dim: Dim | undefined, otherwise: string): string => NAMES[String(dim)] ?? otherwise

/** What of a tensor says how it is laid out. */
export interface TensorLike {
  readonly name: string
  readonly dtype: string
  readonly shape: readonly number[]
}

/** The cells of a tensor of the format; undefined for others, which are not looked at. */
export const gridOf = ({ name, dtype, shape }: TensorLike): TensorGrid | undefined => {
  const rule = TENSORS.find((tensor) => tensor.name === name)
  if (rule === undefined) return undefined
  const [rows = 1, columns = 1, ...rest] = shape
  return {
    rows,
    columns,
    width: isCache(name) && dtype === 'U8' && rest[0] === DS_MLA_BYTES ? DS_MLA_VALUES : elementCount(rest),
    rowName: nameOf(rule.dims[0], 'row'),
    columnName: nameOf(rule.dims[1], 'column'),
  }
}

const isCache = (name: string): boolean => name === 'kv' || name === 'kv_k' || name === 'kv_v'

/** `count` values of the cells from value `from` on, in the order of the cells. */
export const gridValues = async (
  reader: TensorReader,
  name: string,
  from: number,
  count: number,
): Promise<Float64Array> => {
  if (!isCache(name)) return reader.values(name, from, count)
  const { dtype, shape } = reader.tensor(name)
  if (dtype !== 'U8' || shape[2] !== DS_MLA_BYTES) {
    const values = await reader.values(name, from, count)
    const scale = reader.has('kv_scale') ? ((await reader.values('kv_scale'))[0] ?? 1) : 1
    return scale === 1 ? values : values.map((value) => value * scale)
  }
  // Rows of bytes are decoded whole.
  const width = DS_MLA_VALUES
  const first = Math.floor(from / width)
  const end = Math.ceil((from + count) / width)
  const values = await reader.tokens(name, first, end - first)
  return values.subarray(from - first * width, from - first * width + count)
}
