import { describe, expect, it } from 'vitest'
import { type DumpInfo, dumpInfo } from '../../../app/dump/dump.ts'
import { parseHeader } from '../../../app/dump/header.ts'
import { TensorReader } from '../../../app/dump/reader.ts'
import { dumpSource, type Given, ints, type Tensors } from './dump-file.ts'

const FILE = 'dump.safetensors'

const dump = async (tensors: Tensors, metadata: Record<string, string> = {}): Promise<DumpInfo> => {
  const { header } = await TensorReader.open(dumpSource(FILE, tensors, metadata))
  return dumpInfo(header, FILE)
}

const shapes = (given: Record<string, readonly number[]>): Tensors =>
  Object.fromEntries(Object.entries(given).map(([name, shape]) => [name, { shape } satisfies Given]))

const REFUSED = 'must be a whole number of at least'

describe('a dump', () => {
  it('says what its metadata says, with defaults', async () => {
    expect(await dump({}, { rank: '1', lse_base: '2', softmax_scale: '0.05', graph: '1' })).toMatchObject({
      rank: 1,
      dcpSize: 2,
      step: 3,
      layer: 0,
      interleave: 1,
      qLen: 1,
      lseBase: '2',
      softmaxScale: 0.05,
      numHeads: undefined,
      graph: true,
    })
    expect((await dump({}, { rank: 'reference' })).rank).toBe('reference')
  })

  it.each([
    [{ format: 'other' }, 'format must be dcpscope-dump/1, got "other"'],
    [{ rank: '2' }, 'rank must be below dcp_size (2), got 2'],
    [{ dcp_size: '0' }, `dcp_size ${REFUSED} 1, got "0"`],
    [{ dcp_size: '1000000000' }, 'dcp_size must be at most 64, got 1000000000'],
    [{ step: '-1' }, `step ${REFUSED} 0, got "-1"`],
    [{ step: 'NaN' }, `step ${REFUSED} 0, got "NaN"`],
    [{ layer: '1e3' }, `layer ${REFUSED} 0, got "1e3"`],
    [{ lse_base: '10' }, 'lse_base must be e or 2, got "10"'],
    [{ comm: 'p3p' }, 'comm must be ag_rs or a2a or p2p, got "p3p"'],
    [{ kv_layout: 'int4' }, 'kv_layout must be fp32 or bf16 or fp8 or fp8_ds_mla, got "int4"'],
    [{ softmax_scale: 'big' }, 'softmax_scale must be a positive number, got "big"'],
    [{ softmax_scale: '' }, 'softmax_scale must be a positive number, got ""'],
    [{ graph: 'yes' }, 'graph must be 0 or 1, got "yes"'],
    [{ page_size: '64', interleave: '3' }, 'interleave must divide page_size (64), got 3'],
    [{ engine: 'x', max_len: '-5' }, `max_len ${REFUSED} 0, got "-5"`],
  ])('is refused for its metadata: %j', async (metadata, sentence) => {
    await expect(dump({}, metadata)).rejects.toThrow(`${FILE}: __metadata__.${sentence}`)
  })

  it.each(['format', 'rank', 'dcp_size', 'step', 'layer'])('is refused without %s', async (key) => {
    const { header } = await TensorReader.open(dumpSource(FILE, {}))
    const metadata = new Map([...header.metadata].filter(([name]) => name !== key))
    expect(() => dumpInfo({ ...header, metadata }, FILE)).toThrow(`${FILE}: __metadata__.${key} is missing`)
  })

  it.each<[Record<string, readonly number[]>, string]>([
    [{ out: [4, 8, 16], lse: [4, 7] }, 'tensor lse: has H = 7 in [4, 7], but tensor out says 8'],
    [{ out: [4, 8] }, 'tensor out: must have 3 dimensions, has [4, 8]'],
    [{ out: [4, 8, 16], merged: [4, 3, 16] }, 'tensor merged: must hold 4 or 8 heads, has [4, 3, 16]'],
    [{ kv_scale: [2] }, 'tensor kv_scale: must be [1], has [2]'],
    [{ q: [4, 8, 24], kv: [2, 16, 32] }, 'tensor kv: must have rows of 24 values, has [2, 16, 32]'],
    [
      { kv_k: [2, 16, 1, 8], kv_v: [2, 16, 1, 4] },
      'tensor kv_v: has W = 4 in [2, 16, 1, 4], but tensor kv_k says 8',
    ],
    [{ q: [4, 8, 24], kv_k: [2, 16, 1, 8] }, 'tensor q: must be as wide as kv_k (8), has [4, 8, 24]'],
    [{ lse: [0, 8] }, 'tensor lse: holds nothing, its shape is [0, 8]; leave it out instead'],
    [{ seq_lens_local: [2] }, 'tensor seq_lens_local: must be I32 or I64, is F32'],
    [{ page_ids: [2] }, 'tensor page_ids: must be I32 or I64, is F32'],
  ])('is refused for tensors that contradict the format or each other: %j', async (given, sentence) => {
    await expect(dump(shapes(given))).rejects.toThrow(`${FILE}: ${sentence}`)
  })

  it.each<[Tensors, Record<string, string>, string]>([
    [
      shapes({ q: [2, 8, 24] }),
      { num_heads: '4' },
      'tensor q: has H = 8 in [2, 8, 24], but __metadata__.num_heads',
    ],
    [
      shapes({ q: [2, 8, 24] }),
      { kv_lora_rank: '16', rope_dim: '4' },
      'tensor q: has D = 24 in [2, 8, 24], but __metadata__.kv_lora_rank and rope_dim says 20',
    ],
    [{ out: { shape: [2, 8, 16], dtype: 'F64' } }, {}, 'tensor out: must be F32 or F16 or BF16 or F8_E4M3'],
    [
      { kv: { shape: [2, 16, 576], dtype: 'U8' } },
      {},
      'tensor kv: must have rows of 656 bytes, has [2, 16, 576]',
    ],
    [
      { ...shapes({ out: [4, 8, 16] }), slot_mapping: ints([1, 2, 3, 4, 5]) },
      {},
      'tensor slot_mapping: has T = 5 in [5], but tensor out says 4',
    ],
    [
      { ...shapes({ kv: [2, 16, 576] }), page_ids: ints([1, 2, 3]) },
      {},
      'tensor page_ids: has pages = 3 in [3], but tensor kv says 2',
    ],
    [
      { seq_lens_local: ints([1, 2]), query_start: ints([0, 1]) },
      {},
      'tensor query_start: must hold 3 rows for 2 requests, has [2]',
    ],
    [
      { ...shapes({ out: [4, 8, 16] }), seq_lens_global: ints([9, 9, 9]) },
      {},
      'has 4 query rows, but 3 requests (tensor seq_lens_global) of q_len 1 have 3; where query lengths differ',
    ],
  ])('is refused for what contradicts: %#', async (tensors, metadata, sentence) => {
    await expect(dump(tensors, metadata)).rejects.toThrow(`${FILE}: ${sentence}`)
  })

  it.each<[string, Tensors, Record<string, string>]>([
    ['the head slice merged', shapes({ out: [4, 8, 16], merged: [4, 4, 16] }), {}],
    ['all heads merged', shapes({ out: [4, 8, 16], merged: [4, 8, 16] }), {}],
    ['a wide page table', { block_table: ints(Array(40).fill(-1), [1, 40]), seq_lens_local: ints([3]) }, {}],
    ['lse in bf16', { lse: { shape: [4, 8], dtype: 'BF16' } }, {}],
    ['rows of 656 bytes', { kv: { shape: [2, 16, 656], dtype: 'U8' }, ...shapes({ q: [1, 2, 576] }) }, {}],
    [
      'several query tokens',
      { ...shapes({ out: [6, 8, 16] }), seq_lens_global: ints([9, 9]) },
      { q_len: '3' },
    ],
    [
      'rows of padding in a graph',
      { ...shapes({ out: [8, 8, 16] }), seq_lens_global: ints([9, 9]) },
      { graph: '1', graph_batch: '8' },
    ],
    [
      'lengths of padding in a graph',
      { ...shapes({ out: [2, 8, 16] }), seq_lens_global: ints([9, 9, 1, 1]) },
      { graph: '1' },
    ],
    [
      'query lengths that differ',
      { ...shapes({ out: [4, 8, 16] }), seq_lens_global: ints([9, 9]), query_start: ints([0, 1, 4]) },
      {},
    ],
    ['tensors that the format does not know', shapes({ weights: [3, 5] }), {}],
    ['nothing but metadata', {}, {}],
    [
      'the sizes of GQA',
      shapes({ q: [2, 8, 64], out: [2, 8, 64], kv_k: [3, 16, 2, 64], kv_v: [3, 16, 2, 64] }),
      { num_heads: '8', num_kv_heads: '2', head_dim: '64' },
    ],
  ])('is accepted with %s', async (_, tensors, metadata) => {
    expect((await dump(tensors, metadata)).step).toBe(3)
  })

  it.each([
    ['seq_lens_local', [2 ** 22 + 1]],
    ['block_table', [1, 2 ** 20 + 1]],
  ])('is refused for a %s that would take too much memory', (name, shape) => {
    const bytes = shape.reduce((count, size) => count * size, 4)
    const metadata = { format: 'dcpscope-dump/1', rank: '0', dcp_size: '1', step: '0', layer: '0' }
    const header = { __metadata__: metadata, [name]: { dtype: 'I32', shape, data_offsets: [0, bytes] } }
    expect(() => dumpInfo(parseHeader(JSON.stringify(header), 100, 100 + bytes, FILE), FILE)).toThrow(
      `${FILE}: tensor ${name}: is larger than [4194304, 1048576], has [${shape.join(', ')}]`,
    )
  })
})
