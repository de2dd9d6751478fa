import type { MergeSemantics } from './profile.ts'

/** How each serving engine merges; every back-end of it shares this. */

/** SGLang's MLA merge. The base goes by the name of the back-end at the place of the merge, not with the tensor. */
export const SGLANG_MERGE: MergeSemantics = {
  base: 'the name of the back-end, at the place of the merge',
  wire: { ag_rs: 'fp32', a2a: 'out' },
  // 0 * NaN is NaN: rows without keys have to be made neutral before.
  zeroWeight: 'multiplied',
  allEmpty: { ag_rs: '0', a2a: 'NaN' },
  source: 'sgl-project/sglang#21637',
}

/** vLLM since 2026-07. */
export const VLLM_MERGE: MergeSemantics = {
  base: 'a flag of the implementation class',
  wire: { ag_rs: 'out', a2a: 'out' },
  zeroWeight: 'dropped',
  zeroWeightBefore: 'before 2026-07 multiplied, so that NaN stayed NaN',
  allEmpty: { ag_rs: '(0, -inf)', a2a: '(0, -inf)' },
  source: 'vllm-project/vllm#46076',
}

export const HELIX_MERGE: MergeSemantics = {
  base: 'statistics travel with the partial',
  wire: { a2a: 'out' },
  zeroWeight: 'unverified',
  allEmpty: { a2a: 'unverified' },
  source: 'NVIDIA/TensorRT-LLM#9342',
}

export const NATIVE_MERGE: MergeSemantics = {
  base: "the tensor's own tag",
  wire: {},
  zeroWeight: 'dropped',
  allEmpty: { ag_rs: '(0, -inf)', a2a: '(0, -inf)', p2p: '(0, -inf)' },
  source: 'docs/architecture.md',
}
