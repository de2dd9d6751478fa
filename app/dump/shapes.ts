import { DS_MLA_BYTES } from './ds-mla.ts'
import type { DumpInfo } from './dump.ts'
import { DumpError, elementCount, shapeText, type TensorEntry, type TensorHeader } from './safetensors.ts'
import { type Dim, HOLDS, TENSORS, type TensorRule } from './schema.ts'

/** A size that a name stands for, and what said so first. */
interface Known {
  readonly size: number
  readonly from: string
}
type Sizes = Map<string, Known>

/** Most rows and columns of a tensor of integers, which are read as a whole: 268 million tokens in pages of 64. */
const MAX_ROWS = 2 ** 22
const MAX_COLUMNS = 2 ** 20

/** Refuses tensors whose types or shapes break a rule, or contradict the metadata or each other. Throws DumpError. */
export const checkShapes = ({ tensors }: TensorHeader, info: DumpInfo, file: string): void => {
  const sizes = sizesOf(info)
  for (const rule of TENSORS) {
    const tensor = tensors.get(rule.name)
    if (tensor === undefined) continue
    checkType(tensor, rule, info, file)
    checkDims(tensor, rule.dims, sizes, file)
  }
  const size = (name: string): number | undefined => sizes.get(name)?.size
  checkMerged(tensors.get('merged'), size('H'), info.dcpSize, file)
  checkCacheRow(tensors.get('kv'), size('D'), file)
  if (tensors.has('kv_k')) checkKeyWidth(tensors.get('q'), size('W'), file)
  checkQueryStart(tensors.get('query_start'), size('B'), file)
  if (!tensors.has('query_start')) checkRows(size('T'), sizes.get('B'), info, file)
}

const sizesOf = (info: DumpInfo): Sizes => {
  const { numHeads, kvLoraRank, ropeDim, numKvHeads, headDim, pageSize } = info
  const sizes: Sizes = new Map()
  const known = (name: string, size: number | undefined, key: string): void => {
    if (size !== undefined) sizes.set(name, { size, from: `__metadata__.${key}` })
  }
  known('H', numHeads, 'num_heads')
  known('P', pageSize, 'page_size')
  known('kv heads', numKvHeads, 'num_kv_heads')
  known('W', headDim, 'head_dim')
  known('D', headDim, 'head_dim')
  known('W', kvLoraRank, 'kv_lora_rank')
  if (kvLoraRank !== undefined && ropeDim !== undefined)
    known('D', kvLoraRank + ropeDim, 'kv_lora_rank and rope_dim')
  return sizes
}

const checkType = (
  { name, dtype, shape }: TensorEntry,
  { holds }: TensorRule,
  { rank }: DumpInfo,
  file: string,
): void => {
  const types = HOLDS[holds]
  const exact = rank === 'reference' && dtype === 'F64' && holds !== 'integers'
  if (!exact && !types.includes(dtype))
    throw new DumpError(file, name, `must be ${types.join(' or ')}, is ${dtype}`)
  if (elementCount(shape) === 0)
    throw new DumpError(file, name, `holds nothing, its shape is ${shapeText(shape)}; leave it out instead`)
  const [rows = 0, columns = 0] = shape
  if (holds === 'integers' && (rows > MAX_ROWS || columns > MAX_COLUMNS))
    throw new DumpError(file, name, `is larger than [${MAX_ROWS}, ${MAX_COLUMNS}], has ${shapeText(shape)}`)
}

const checkDims = ({ name, shape }: TensorEntry, dims: readonly Dim[], sizes: Sizes, file: string): void => {
  if (shape.length !== dims.length)
    throw new DumpError(file, name, `must have ${dims.length} dimensions, has ${shapeText(shape)}`)
  dims.forEach((dim, i) => {
    const size = shape[i] ?? 0
    if (typeof dim === 'number' && size !== dim)
      throw new DumpError(file, name, `must be [${dims.join(', ')}], has ${shapeText(shape)}`)
    if (typeof dim !== 'string') return
    const before = sizes.get(dim)
    if (before === undefined) sizes.set(dim, { size, from: `tensor ${name}` })
    else if (before.size !== size)
      throw new DumpError(
        file,
        name,
        `has ${dim} = ${size} in ${shapeText(shape)}, but ${before.from} says ${before.size}`,
      )
  })
}

/** A rank keeps its slice of the heads, or all of them. */
const checkMerged = (
  merged: TensorEntry | undefined,
  heads: number | undefined,
  dcpSize: number,
  file: string,
): void => {
  if (merged === undefined || heads === undefined) return
  const kept = merged.shape[1]
  if (kept !== heads && kept !== heads / dcpSize)
    throw new DumpError(
      file,
      'merged',
      `must hold ${heads / dcpSize} or ${heads} heads, has ${shapeText(merged.shape)}`,
    )
}

/** Bytes are rows of fp8_ds_mla; rows of values are as wide as keys. */
const checkCacheRow = (kv: TensorEntry | undefined, keyWidth: number | undefined, file: string): void => {
  if (kv === undefined) return
  const row = kv.shape[2]
  const wanted = kv.dtype === 'U8' ? DS_MLA_BYTES : keyWidth
  if (wanted !== undefined && row !== wanted)
    throw new DumpError(
      file,
      'kv',
      `must have rows of ${wanted} ${kv.dtype === 'U8' ? 'bytes' : 'values'}, has ${shapeText(kv.shape)}`,
    )
}

/** Of GQA and MHA, queries are as wide as keys. */
const checkKeyWidth = (q: TensorEntry | undefined, width: number | undefined, file: string): void => {
  if (q !== undefined && width !== undefined && q.shape[2] !== width)
    throw new DumpError(file, 'q', `must be as wide as kv_k (${width}), has ${shapeText(q.shape)}`)
}

const checkQueryStart = (
  start: TensorEntry | undefined,
  requests: number | undefined,
  file: string,
): void => {
  if (start === undefined || requests === undefined || start.shape[0] === requests + 1) return
  throw new DumpError(
    file,
    'query_start',
    `must hold ${requests + 1} rows for ${requests} requests, has ${shapeText(start.shape)}`,
  )
}

/** Every request has q_len rows. Buffers of a graph may have padding behind those of the batch. */
const checkRows = (
  rows: number | undefined,
  requests: Known | undefined,
  { qLen, graph }: DumpInfo,
  file: string,
): void => {
  if (rows === undefined || requests === undefined || graph) return
  const real = requests.size * qLen
  if (rows === real) return
  throw new DumpError(
    file,
    undefined,
    `has ${rows} query rows, but ${requests.size} requests (${requests.from}) of q_len ${qLen} have ${real}; ` +
      'where query lengths differ, query_start says which rows are whose',
  )
}
