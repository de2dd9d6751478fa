#pragma once
#include "cuda/stamp.h"

namespace dcpscope::cuda {

#ifdef __CUDACC__

/** Stamp of one block of a one-dimensional grid. All threads construct it first and call `end` last. */
class BlockStamp {
 public:
  __device__ explicit BlockStamp(Stamp* stamps) : active_(stamps != nullptr) {
    if (!active_ || threadIdx.x != 0) return;
    const int slot = stampOf(static_cast<int>(blockIdx.x), static_cast<int>(gridDim.x));
    if (slot < 0) return;
    if (slot == 0) announce(stamps);
    at_ = stamps + slot;
    begin_ = globalTime();
  }

  __device__ void end() const {
    if (!active_) return;
    __syncthreads();
    if (at_ != nullptr) *at_ = Stamp{begin_, globalTime()};
  }

 private:
  bool active_;
  Stamp* at_ = nullptr;
  uint64_t begin_ = 0;
};

#endif

}  // namespace dcpscope::cuda
