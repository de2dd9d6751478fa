#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>

#include "core/generate.h"
#include "cuda/stamp.h"

/** What a serving engine's projections would hand to attention: the same bits as cpu/inputs.h makes. */
namespace dcpscope::cuda {

/** One layer of one step; token t of request r has the position before[r] + t. */
struct InputsTask {
  int requests;
  int qLen;
  /** Heads firstHead .. firstHead + heads - 1 of the group. */
  int firstHead;
  int heads;
  int keyDim;
  /** Of grouped-query attention; 0: MLA. */
  int kvHeads;
  /** Data of the layer, by request (device). */
  const Source* sources;
  /** Global length before the new tokens, by request (device): read when the kernel runs. */
  const int64_t* before;
  /** bf16 [T][heads][keyDim], and what the cache keeps of the new tokens, [T][cachedRows(kvHeads)][keyDim].
   */
  void* queries;
  void* keys;
};

void makeInputs(const InputsTask& task, cudaStream_t stream);

/** What an all-gather of query heads leaves: copies the head slices of all ranks [T][heads][keyDim], `bytes`
 * together. */
void gatherQueries(const void* from, void* to, int64_t bytes, cudaStream_t stream, Stamps stamps);

}  // namespace dcpscope::cuda
