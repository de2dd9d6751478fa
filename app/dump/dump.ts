import { MAX_INTERLEAVE, MAX_PAGE, MAX_TOKENS } from '../dcp/checks.ts'
import { BRANCHES, type Branch } from '../run/branch.ts'
import { MAX_DCP_SIZE } from '../run/config.ts'
import { DumpError, shown, type TensorHeader } from './safetensors.ts'
import { DUMP_FORMAT } from './schema.ts'
import { checkShapes } from './shapes.ts'

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
  readonly numKvHeads: number | undefined
  readonly headDim: number | undefined
  readonly softmaxScale: number | undefined
  readonly lseBase: 'e' | '2' | undefined
  readonly comm: 'ag_rs' | 'a2a' | 'p2p' | undefined
  readonly kvLayout: 'fp32' | 'bf16' | 'fp8' | 'fp8_ds_mla' | undefined
  /** Longest context that buffers were sized for. */
  readonly maxLen: number | undefined
  readonly backend: string | undefined
  readonly engine: string | undefined
  /** Branch of the metadata that the call took. */
  readonly branch: Branch | undefined
  /** The step was the replay of a CUDA graph, captured for `graphBatch` requests. */
  readonly graph: boolean
  readonly graphBatch: number | undefined
}

/** Reads the metadata of one file and checks that its tensors agree with it and with each other. Throws DumpError. */
export const dumpInfo = (header: TensorHeader, file: string): DumpInfo => {
  const info = infoOf(header.metadata, file)
  checkShapes(header, info, file)
  return info
}

const infoOf = (metadata: ReadonlyMap<string, string>, file: string): DumpInfo => {
  const refuse = (key: string, rule: string): never => {
    throw new DumpError(file, undefined, `__metadata__.${key} ${rule}`)
  }
  const whole = (key: string, least: number, most = Number.MAX_SAFE_INTEGER): number | undefined => {
    const text = metadata.get(key)
    if (text === undefined) return undefined
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    if (!(value >= least))
      return refuse(key, `must be a whole number of at least ${least}, got ${shown(text)}`)
    return value <= most ? value : refuse(key, `must be at most ${most}, got ${value}`)
  }
  const needed = (key: string, least: number, most?: number): number =>
    whole(key, least, most) ?? refuse(key, 'is missing')
  const oneOf = <T extends string>(key: string, values: readonly T[]): T | undefined => {
    const text = metadata.get(key)
    if (text === undefined) return undefined
    return values.find((v) => v === text) ?? refuse(key, `must be ${values.join(' or ')}, got ${shown(text)}`)
  }
  const format = metadata.get('format')
  if (format === undefined) refuse('format', 'is missing')
  else if (format !== DUMP_FORMAT) refuse('format', `must be ${DUMP_FORMAT}, got ${shown(format)}`)
  const scale = metadata.get('softmax_scale')
  const softmaxScale = scale === undefined ? undefined : Number(scale)
  if (softmaxScale !== undefined && !(softmaxScale > 0 && Number.isFinite(softmaxScale)))
    refuse('softmax_scale', `must be a positive number, got ${shown(scale ?? '')}`)
  const rank = metadata.get('rank') === 'reference' ? 'reference' : needed('rank', 0)
  const dcpSize = needed('dcp_size', 1, MAX_DCP_SIZE)
  if (rank !== 'reference' && rank >= dcpSize)
    refuse('rank', `must be below dcp_size (${dcpSize}), got ${rank}`)
  const interleave = whole('interleave', 1, MAX_INTERLEAVE) ?? 1
  const pageSize = whole('page_size', 1, MAX_PAGE)
  if (pageSize !== undefined && pageSize % interleave !== 0)
    refuse('interleave', `must divide page_size (${pageSize}), got ${interleave}`)
  return {
    rank,
    dcpSize,
    step: needed('step', 0),
    layer: needed('layer', 0),
    interleave,
    qLen: whole('q_len', 1) ?? 1,
    pageSize,
    numHeads: whole('num_heads', 1),
    kvLoraRank: whole('kv_lora_rank', 1),
    ropeDim: whole('rope_dim', 0),
    numKvHeads: whole('num_kv_heads', 1),
    headDim: whole('head_dim', 1),
    softmaxScale,
    lseBase: oneOf('lse_base', ['e', '2']),
    comm: oneOf('comm', ['ag_rs', 'a2a', 'p2p']),
    kvLayout: oneOf('kv_layout', ['fp32', 'bf16', 'fp8', 'fp8_ds_mla']),
    maxLen: whole('max_len', 0, MAX_TOKENS),
    backend: metadata.get('backend'),
    engine: metadata.get('engine'),
    branch: oneOf('branch', BRANCHES),
    graph: oneOf('graph', ['0', '1']) === '1',
    graphBatch: whole('graph_batch', 1),
  }
}
