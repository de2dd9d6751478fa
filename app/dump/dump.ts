import { DumpError, elementCount, type TensorEntry, type TensorHeader } from './safetensors.ts'

/** Value of `format` in `__metadata__` of a tensor dump. */
export const DUMP_FORMAT = 'dcpscope-dump/1'

/** What `__metadata__` says; undefined where the key is absent. Sizes in tokens, heads, values. */
export interface DumpInfo {
  /** The DCP rank, or the unsharded reference. */
  readonly rank: number | 'reference'
  readonly dcpSize: number
  readonly step: number
  readonly layer: number
  readonly interleave: number
  readonly qLen: number
  readonly pageSize: number | undefined
  readonly numHeads: number | undefined
  readonly kvLoraRank: number | undefined
  readonly ropeDim: number | undefined
  readonly softmaxScale: number | undefined
  readonly lseBase: 'e' | '2' | undefined
  readonly comm: 'ag_rs' | 'a2a' | 'p2p' | undefined
  readonly kvLayout: string | undefined
  readonly engine: string | undefined
}

/** Reads the metadata of one file and checks that its shapes agree. Throws DumpError. */
export const dumpInfo = (header: TensorHeader, file: string): DumpInfo => {
  const info = infoOf(header.metadata, file)
  checkShapes(header, info, file)
  return info
}

const infoOf = (metadata: ReadonlyMap<string, string>, file: string): DumpInfo => {
  const refuse = (key: string, rule: string): never => {
    throw new DumpError(file, undefined, `__metadata__.${key} ${rule}`)
  }
  const whole = (key: string, least: number): number | undefined => {
    const text = metadata.get(key)
    if (text === undefined) return undefined
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    return value >= least
      ? value
      : refuse(key, `must be a whole number of at least ${least}, got ${quoted(text)}`)
  }
  const needed = (key: string, least: number): number => whole(key, least) ?? refuse(key, 'is missing')
  const oneOf = <T extends string>(key: string, values: readonly T[]): T | undefined => {
    const text = metadata.get(key)
    if (text === undefined) return undefined
    return (
      values.find((v) => v === text) ?? refuse(key, `must be ${values.join(' or ')}, got ${quoted(text)}`)
    )
  }
  const format = metadata.get('format')
  if (format === undefined) refuse('format', 'is missing')
  else if (format !== DUMP_FORMAT) refuse('format', `must be ${DUMP_FORMAT}, got ${quoted(format)}`)
  const scale = metadata.get('softmax_scale')
  const softmaxScale = scale === undefined ? undefined : Number(scale)
  if (softmaxScale !== undefined && !(softmaxScale > 0 && Number.isFinite(softmaxScale)))
    refuse('softmax_scale', `must be a positive number, got ${quoted(scale ?? '')}`)
  const rank = metadata.get('rank') === 'reference' ? 'reference' : needed('rank', 0)
  const dcpSize = needed('dcp_size', 1)
  if (rank !== 'reference' && rank >= dcpSize)
    refuse('rank', `must be below dcp_size (${dcpSize}), got ${rank}`)
  return {
    rank,
    dcpSize,
    step: needed('step', 0),
    layer: needed('layer', 0),
    interleave: whole('interleave', 1) ?? 1,
    qLen: whole('q_len', 1) ?? 1,
    pageSize: whole('page_size', 1),
    numHeads: whole('num_heads', 1),
    kvLoraRank: whole('kv_lora_rank', 1),
    ropeDim: whole('rope_dim', 0),
    softmaxScale,
    lseBase: oneOf('lse_base', ['e', '2']),
    comm: oneOf('comm', ['ag_rs', 'a2a', 'p2p']),
    kvLayout: metadata.get('kv_layout'),
    engine: metadata.get('engine'),
  }
}

const quoted = (text: string): string => JSON.stringify(text.length > 60 ? `${text.slice(0, 57)}...` : text)

/** A dimension of a tensor: a size by name, a fixed number, or anything. */
type Dim = string | number | null

/** Shapes of the dump format; a name stands for one size in all tensors of a file. */
const SHAPES: Readonly<Record<string, readonly Dim[]>> = {
  q: ['T', 'H', null],
  out: ['T', 'H', 'W'],
  lse: ['T', 'H'],
  out_kernel: ['T', 'H', 'W'],
  lse_kernel: ['T', 'H'],
  merged: ['T', null, 'W'],
  seq_lens_global: ['B'],
  seq_lens_local: ['B'],
  block_table: ['B', null],
  kv: ['pages', 'P', null],
  kv_k: ['pages', 'P', null, null],
  kv_v: ['pages', 'P', null, null],
  kv_scale: [1],
  page_ids: ['pages'],
  slot_mapping: ['T'],
  topk: ['T', 'K'],
  topk_local: ['T', 'K'],
  topk_slots: ['T', 'K'],
}

const checkShapes = ({ tensors }: TensorHeader, info: DumpInfo, file: string): void => {
  const sizes = new Map<string, { size: number; from: string }>()
  const known = (name: string, size: number | undefined, key: string): void => {
    if (size !== undefined) sizes.set(name, { size, from: `__metadata__.${key}` })
  }
  known('H', info.numHeads, 'num_heads')
  known('W', info.kvLoraRank, 'kv_lora_rank')
  known('P', info.pageSize, 'page_size')
  for (const [name, dims] of Object.entries(SHAPES)) {
    const tensor = tensors.get(name)
    if (tensor !== undefined) checkTensor(tensor, dims, sizes, file)
  }
  checkMerged(tensors.get('merged'), sizes.get('H')?.size, info.dcpSize, file)
}

const checkTensor = (
  tensor: TensorEntry,
  dims: readonly Dim[],
  sizes: Map<string, { size: number; from: string }>,
  file: string,
): void => {
  const { name, shape } = tensor
  if (shape.length !== dims.length)
    throw new DumpError(file, name, `must have ${dims.length} dimensions, has [${shape.join(', ')}]`)
  dims.forEach((dim, i) => {
    const size = shape[i] ?? 0
    if (typeof dim === 'number' && size !== dim)
      throw new DumpError(file, name, `must be [${dims.join(', ')}], has [${shape.join(', ')}]`)
    if (typeof dim !== 'string') return
    const before = sizes.get(dim)
    if (before === undefined) sizes.set(dim, { size, from: `tensor ${name}` })
    else if (before.size !== size)
      throw new DumpError(
        file,
        name,
        `has ${dim} = ${size} in [${shape.join(', ')}], but ${before.from} says ${before.size}`,
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
  if (merged === undefined || heads === undefined || elementCount(merged.shape) === 0) return
  const kept = merged.shape[1]
  if (kept !== heads && kept !== heads / dcpSize)
    throw new DumpError(
      file,
      'merged',
      `must hold ${heads / dcpSize} or ${heads} heads, has [${merged.shape.join(', ')}]`,
    )
}
