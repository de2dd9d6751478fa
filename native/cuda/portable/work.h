#pragma once
#include <cstdint>

#include "cuda/attention.h"

namespace dcpscope::cuda::portable {

/** What the planner leaves for the other kernels; device memory. */
struct PlanMemory {
  /** Units of the line that one block does. */
  int64_t* share;
  /** Unit at which each group begins [groups + 1]. */
  int64_t* begin;
  /** Group in which each block begins, `groups` for a block without work [blocks]. */
  int32_t* firstGroup;
};

/** One call, by value to the kernels. */
struct Work {
  AttentionShape shape;
  AttentionInputs in;
  PlanMemory plan;
  int blocks;
  /** Requests, each KV head of them, or query tokens when sparse; each has `items` tiles of its
   * `rowsPerGroup` query rows. */
  int groups;
  int items;
  int rowsPerGroup;
  /** KV heads, 1 with MLA: groups of a request when dense. */
  int kvHeads;
  /** Query heads in a row that share a KV head. */
  int headsTogether;
  /** Of a tile. */
  int rows;
  int keys;
  /** Unnormalised scores to base-2 exponents, cached values to true ones; both with the scale of an fp8
   * cache. */
  float scoreScale;
  float valueScale;
  /** Partial results of split items: [2 * blocks][rows][V], normalised, and their base-2 log-sum-exp. */
  float* partialOut;
  float* partialLse;
};

/** Query rows of one call that share their keys. */
inline int rowsPerGroup(const AttentionShape& shape) {
  if (shape.topk > 0) return shape.heads;
  return shape.heads * shape.qLen / (shape.kvHeads > 0 ? shape.kvHeads : 1);
}

/** The attention kernel for one cache format and tile. */
struct AttendKernel {
  const void* function;
  int rows;
  int keys;
  int sharedBytes;
};

/** The one for `shape`, a valid one. */
AttendKernel attendKernel(const AttentionShape& shape);

void launchPlan(const Work& work, const int32_t* lengths, cudaStream_t stream);
void launchCombine(const Work& work, cudaStream_t stream);

}  // namespace dcpscope::cuda::portable
