#pragma once
#include <cuda_runtime_api.h>

#include "core/lse_layout.h"
#include "cuda/stamp.h"

namespace dcpscope::cuda {

/**
 * Brings the lse of attention, fp32 [T][heads], to how a kernel with a layout, type or padding of its own
 * keeps it; heads that only pad hold kStaleLse. It goes on with the work of the kernel before it: of the
 * stamps of that one it moves the end.
 */
void layOutLse(const float* lse, int heads, const KernelLse& to, cudaStream_t stream, Stamps stamps);

}  // namespace dcpscope::cuda
