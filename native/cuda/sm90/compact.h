#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>

namespace dcpscope::cuda {

/**
 * Moves the slots of each query token that are not -1 to the front, in their order: from [tokens][topk] to
 * [tokens][topk], and their number to counts [tokens].
 */
void compactSlots(const int32_t* from, int64_t tokens, int topk, int32_t* to, int32_t* counts,
                  cudaStream_t stream);

}  // namespace dcpscope::cuda
