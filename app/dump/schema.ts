import type { Dtype } from './safetensors.ts'

/** Value of `format` in `__metadata__` of a tensor dump. */
export const DUMP_FORMAT = 'dcpscope-dump/1'

/** What dcpscope and its recorder call the file of a rank. Readers go by the metadata, not by the name. */
export const dumpFileName = (step: number, layer: number, rank: number): string =>
  `step${step}-layer${layer}-rank${rank}.safetensors`

/** A key of `__metadata__`, where every value is text. */
export interface MetadataKey {
  readonly key: string
  readonly takes: string
  readonly doc: string
}

const key = (name: string, takes: string, doc: string): MetadataKey => ({ key: name, takes, doc })

/** Keys that every file has. */
export const REQUIRED_METADATA: readonly MetadataKey[] = [
  key('format', DUMP_FORMAT, 'This format.'),
  key('rank', 'number', "The file's rank in the DCP group, from 0."),
  key('dcp_size', 'number', 'Ranks of the group.'),
  key('step', 'number', 'Decode step.'),
  key('layer', 'number', 'Layer.'),
]

/** Keys that a file may leave out; what they decide is then taken from shapes, or not checked. */
export const OPTIONAL_METADATA: readonly MetadataKey[] = [
  key('interleave', 'number', 'Consecutive tokens that go to one rank; 1 where it is left out.'),
  key('page_size', 'number', 'Tokens of a physical page (P).'),
  key('num_heads', 'number', 'Heads of the attention call (H): all those of the group.'),
  key('kv_lora_rank', 'number', 'Latent width of MLA (W).'),
  key('rope_dim', 'number', 'Rope width of MLA; keys are W + rope_dim wide (D).'),
  key('num_kv_heads', 'number', 'Key heads of GQA and MHA.'),
  key('head_dim', 'number', 'Width of a head of GQA and MHA (W and D).'),
  key('q_len', 'number', 'Query tokens of a request; 1 where it is left out.'),
  key('softmax_scale', 'number', 'As passed to the kernel.'),
  key('lse_base', 'e or 2', 'Base of the lse that the merge assumed.'),
  key('comm', 'ag_rs, a2a or p2p', 'How the ranks exchange partials.'),
  key('kv_layout', 'fp32, bf16, fp8 or fp8_ds_mla', 'Type of the cache.'),
  key('max_len', 'number', 'Longest context that buffers were sized for, in tokens.'),
  key('backend', 'text', 'Profile of the serving back-end.'),
  key('engine', 'text', 'What wrote the file, such as vllm 0.12.1.'),
  key(
    'branch',
    'decode, target_verify or draft_extend',
    'Branch of the metadata that the call took; draft_extend is that of a draft.',
  ),
  key('graph', '0 or 1', '1 where the step was the replay of a CUDA graph.'),
  key('graph_batch', 'number', 'Requests that the graph was captured for.'),
]

/** A dimension: a size that its name stands for in all tensors of a file, or a fixed one. */
export type Dim = string | number

/** What a tensor may hold. */
export type Holds = 'values' | 'lse' | 'integers' | 'cache'

export interface TensorRule {
  readonly name: string
  readonly dims: readonly Dim[]
  readonly holds: Holds
  readonly doc: string
}

/** Types that each kind of content may have. The unsharded reference of a run is F64 as well. */
export const HOLDS: Readonly<Record<Holds, readonly Dtype[]>> = {
  values: ['F32', 'F16', 'BF16', 'F8_E4M3', 'F8_E5M2'],
  lse: ['F32', 'F16', 'BF16'],
  integers: ['I32', 'I64'],
  cache: ['F32', 'F16', 'BF16', 'F8_E4M3', 'F8_E5M2', 'U8'],
}

const tensor = (name: string, dims: readonly Dim[], holds: Holds, doc: string): TensorRule => ({
  name,
  dims,
  holds,
  doc,
})

/**
 * The tensors of a dump; all may be left out. T: query tokens of the batch, request by request; H: heads that the
 * kernel of one rank sees; W: values of one partial; D: values of a query or key; B: requests; P: tokens of a page; K: keys
 * that sparse attention may choose.
 */
export const TENSORS: readonly TensorRule[] = [
  tensor(
    'q',
    ['T', 'H', 'D'],
    'values',
    'Queries after the gather; of MLA the latent part first, then rope.',
  ),
  tensor('out', ['T', 'H', 'W'], 'values', "The rank's partial as the merge consumes it."),
  tensor('lse', ['T', 'H'], 'lse', 'Its log-sum-exp as the merge consumes it.'),
  tensor('out_kernel', ['T', 'H', 'W'], 'values', 'The partial as the kernel returned it.'),
  tensor('lse_kernel', ['T', 'H'], 'lse', 'The log-sum-exp as the kernel returned it.'),
  tensor(
    'merged',
    ['T', 'kept heads', 'W'],
    'values',
    'What the rank keeps after the merge: its H / c heads, or all.',
  ),
  tensor('seq_lens_global', ['B'], 'integers', 'Global lengths handed to the kernel, in tokens.'),
  tensor('seq_lens_local', ['B'], 'integers', 'Local lengths handed to the kernel, in tokens.'),
  tensor(
    'prompt_lens',
    ['B'],
    'integers',
    'Tokens of each prompt, where generated tokens are dealt out anew from rank 0 on behind it (Helix).',
  ),
  tensor('block_table', ['B', 'columns'], 'integers', 'Page table of the rank, -1 unused.'),
  tensor(
    'kv',
    ['pages', 'P', 'row'],
    'cache',
    'Pages of the rank: rows of D values, or of 656 bytes (fp8_ds_mla).',
  ),
  tensor('kv_k', ['pages', 'P', 'kv heads', 'W'], 'values', 'Pages of keys, for GQA and MHA.'),
  tensor('kv_v', ['pages', 'P', 'kv heads', 'W'], 'values', 'Pages of values, for GQA and MHA.'),
  tensor('kv_scale', [1], 'lse', 'Of an fp8 cache: a value is its code times this; 1 where it is left out.'),
  tensor('page_ids', ['pages'], 'integers', 'Number of each page in kv; 0, 1, .. where it is left out.'),
  tensor('slot_mapping', ['T'], 'integers', 'Where the new tokens were written, -1 not on this rank.'),
  tensor('topk', ['T', 'K'], 'integers', 'Sparse attention: global token ids of the indexer, -1 none.'),
  tensor('topk_local', ['T', 'K'], 'integers', 'The same as local ids, -1 none.'),
  tensor('topk_slots', ['T', 'K'], 'integers', 'The same as slots of the pool, -1 none.'),
  tensor('query_start', ['B + 1'], 'integers', 'First row of each request, where query lengths differ.'),
]
