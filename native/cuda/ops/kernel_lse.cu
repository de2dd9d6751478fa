#include "core/stale.h"
#include "cuda/check.h"
#include "cuda/ops/kernel_lse.h"
#include "cuda/ops/launch.h"

namespace dcpscope::cuda {
namespace {

constexpr int kThreads = 256;

/** By all threads of a block, when its work is done. */
__device__ void moveEnd(Stamp* stamp) {
  if (stamp == nullptr) return;
  __syncthreads();
  if (threadIdx.x == 0)
    atomicMax(reinterpret_cast<unsigned long long*>(&stamp->end),
              static_cast<unsigned long long>(globalTime()));
}

/** One thread a value of the kernel's tensor. */
__global__ void __launch_bounds__(kThreads)
    layOutKernel(const float* lse, int heads, KernelLse to, Stamps stamps) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < to.place.size()) {
    const int64_t token = i / to.place.heads;
    const int64_t head = i % to.place.heads;
    to.put(to.place.at(token, head), head < heads ? lse[token * heads + head] : kStaleLse);
  }
  moveEnd(stamps.first);
}

}  // namespace

void layOutLse(const float* lse, int heads, const KernelLse& to, cudaStream_t stream, Stamps stamps) {
  layOutKernel<<<blocksFor(to.place.size(), kThreads), kThreads, 0, stream>>>(lse, heads, to, stamps);
  launched("laying out the lse");
}

}  // namespace dcpscope::cuda
