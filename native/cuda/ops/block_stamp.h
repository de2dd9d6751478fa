#pragma once
#include "cuda/stamp.h"

namespace dcpscope::cuda {

#ifdef __CUDACC__

/** Stamp of one block of a one-dimensional grid. All threads construct it first and call `end` last. */
class BlockStamp {
 public:
  __device__ explicit BlockStamp(const Stamps& stamps) : stamps_(stamps.first) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) announce(stamps);
    if (stamps_ == nullptr) return;
    slot_ = stampOf(static_cast<int>(blockIdx.x), static_cast<int>(gridDim.x));
    if (slot_ >= 0) stamps_[slot_].begin = globalTime();
  }

  __device__ void end() const {
    if (stamps_ == nullptr) return;
    __syncthreads();
    write();
  }

  /** The same, with work of the block that needs a barrier before it: one barrier is enough for both. */
  template <class F>
  __device__ void end(F&& behindBarrier) const {
    __syncthreads();
    behindBarrier();
    write();
  }

 private:
  __device__ void write() const {
    if (slot_ >= 0) stamps_[slot_].end = globalTime();
  }

  Stamp* stamps_;
  int slot_ = -1;
};

#endif

}  // namespace dcpscope::cuda
