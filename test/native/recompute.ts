import { globalIndex, localLength } from '../../app/dcp/ownership.ts'
import { decodeValues } from '../../app/dump/values.ts'
import type { EngineConfig } from '../../app/run/engine-config.ts'
import { at, captureOf, type Finished, tensorOf, valuesOf } from './engine.ts'

/** Attention in plain doubles over what a run captured, by code of its own. */

const bf16 = (value: number): number => {
  const bits = new Uint32Array(new Float32Array([value]).buffer)
  const raw = at(bits, 0)
  const rounded = Uint32Array.of((raw + 0x7fff + ((raw >>> 16) & 1)) & 0xffff0000)
  return at(new Float32Array(rounded.buffer), 0)
}

/** The 576 values of a row of 656 bytes as a kernel uses them. */
const dsMlaRow = (row: Uint8Array): Float64Array => {
  const codes = decodeValues(row.subarray(0, 512), 'F8_E4M3')
  const scales = decodeValues(row.subarray(512, 528), 'F32')
  const latent = codes.map((code, d) => bf16(code * bf16(at(scales, Math.floor(d / 128)))))
  return Float64Array.of(...latent, ...decodeValues(row.subarray(528), 'BF16'))
}

/** Values of the slots of a rank's captured pages, by row of `kv`, or of the keys or values of one KV head. */
const slotsOf = (
  run: Finished,
  config: EngineConfig,
  rank: number,
  { of = 'kv', kvHead = 0 }: CacheRows,
): ((slot: number) => Float64Array) => {
  const capture = captureOf(run, rank)
  if (config.kvDtype === 'fp8_ds_mla') {
    const bytes = new Uint8Array(tensorOf(capture, 'kv').data)
    return (slot) => dsMlaRow(bytes.subarray(slot * 656, (slot + 1) * 656))
  }
  const values = valuesOf(capture, of)
  const [, , heads, head] = tensorOf(capture, of).shape
  const width = head ?? config.kvLoraRank + config.ropeDim
  const stride = head === undefined ? width : width * (heads ?? 1)
  const scale = config.kvDtype === 'fp8' ? at(valuesOf(capture, 'kv_scale'), 0) : 1
  return (slot) => {
    const from = slot * stride + kvHead * width
    return values.subarray(from, from + width).map((value) => value * scale)
  }
}

/** Rows of a cache: of MLA one a token, else the keys or values of one KV head. */
export interface CacheRows {
  readonly of?: 'kv' | 'kv_k' | 'kv_v'
  readonly kvHead?: number
}

/** Keys of a request of `len` tokens by global position, read back from every rank's captured pages. */
export const keysOf = (
  run: Finished,
  config: EngineConfig,
  request: number,
  len: number,
  rows: CacheRows = {},
): Float64Array[] => {
  const keys: Float64Array[] = []
  for (let rank = 0; rank < config.ranks; rank++) {
    const capture = captureOf(run, rank)
    const valuesAt = slotsOf(run, config, rank, rows)
    const rowOfPage = new Map([...valuesOf(capture, 'page_ids')].map((page, row) => [page, row]))
    const table = valuesOf(capture, 'block_table')
    const columns = table.length / config.contextLens.length
    const sharding = { dcp: config.ranks, interleave: config.interleave }
    for (let l = 0; l < localLength(len, rank, sharding); l++) {
      const page = rowOfPage.get(at(table, request * columns + Math.floor(l / config.pageSize))) ?? -1
      keys[globalIndex(l, rank, sharding)] = valuesAt(page * config.pageSize + (l % config.pageSize))
    }
  }
  return keys
}

/** Softmax attention of one query over some keys, whose first part are the values unless these are given; `lse` natural, -Infinity without keys. */
export const attend = (
  q: Float64Array,
  keys: readonly Float64Array[],
  config: EngineConfig,
  values: readonly Float64Array[] = keys,
): { out: Float64Array; lse: number } => {
  const scores = keys.map(
    (key) => config.softmaxScale * key.reduce((sum, value, d) => sum + value * at(q, d), 0),
  )
  const max = Math.max(...scores)
  const total = scores.reduce((sum, s) => sum + Math.exp(s - max), 0)
  const out = new Float64Array(config.kvHeads > 0 ? config.headDim : config.kvLoraRank)
  scores.forEach((s, k) => {
    const weight = Math.exp(s - max) / total
    const value = values[k] ?? []
    for (let v = 0; v < out.length; v++) out[v] = at(out, v) + weight * at(value, v)
  })
  return { out, lse: keys.length === 0 ? Number.NEGATIVE_INFINITY : max + Math.log(total) }
}
