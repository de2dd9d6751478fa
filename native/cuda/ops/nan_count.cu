#include "cuda/check.h"
#include "cuda/ops/launch.h"
#include "cuda/ops/neutralize.h"
#include "cuda/ops/special.cuh"

namespace dcpscope::cuda {
namespace {

constexpr int kThreads = 512;
constexpr int kWarps = kThreads / kWarp;

/** One block a token. */
template <bool Fp32>
__global__ void __launch_bounds__(kThreads)
    countNanKernel(const void* values, int perToken, NanCount* found) {
  using M = Magnitude<Fp32>;
  __shared__ int counts[kWarps];
  __shared__ unsigned firsts[kWarps];
  int count = 0;
  unsigned first = ~0U;
  const int eights = perToken / kEight;
  const int64_t begin = static_cast<int64_t>(blockIdx.x) * eights;
#pragma unroll 4
  for (int e = static_cast<int>(threadIdx.x); e < eights; e += kThreads) {
    const Eight<Fp32> eight = loadEight<Fp32>(values, begin + e);
    if (M::most(eight) <= M::kInfinity) continue;
#pragma unroll
    for (int i = 0; i < kEight; ++i) {
      if (M::at(eight, i) <= M::kInfinity) continue;
      ++count;
      first = min(first, static_cast<unsigned>(e * kEight + i));
    }
  }
  count = __reduce_add_sync(0xffffffffU, count);
  first = __reduce_min_sync(0xffffffffU, first);
  if (threadIdx.x % kWarp == 0) {
    counts[threadIdx.x / kWarp] = count;
    firsts[threadIdx.x / kWarp] = first;
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int w = 1; w < kWarps; ++w) {
    count += counts[w];
    first = min(first, firsts[w]);
  }
  found[blockIdx.x] = {count, count == 0 ? -1 : static_cast<int>(first)};
}

}  // namespace

void countNan(const void* values, bool fp32, int tokens, int perToken, NanCount* found, cudaStream_t stream) {
  choose(fp32, [&](auto wide) {
    countNanKernel<wide.value><<<blocksFor(tokens, 1), kThreads, 0, stream>>>(values, perToken, found);
  });
  launched("count of NaN");
}

}  // namespace dcpscope::cuda
