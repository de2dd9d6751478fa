#pragma once
#include <cmath>
#include <cstdint>

#include "cuda/ops/launch.h"

/** Weights of a merge, computed by a warp for one row; the rules of core/lse.h in fp32. */
namespace dcpscope::cuda {

/** NaN and +inf say "no keys", like -inf. */
__device__ inline float effectiveLse(float lse) { return lse < INFINITY ? lse : -INFINITY; }

__device__ inline float power(float x, bool base2) { return base2 ? exp2f(x) : expf(x); }

/** Weights of up to 64 ranks: a lane holds those of the ranks `lane` and `lane + 32`. */
struct RankWeights {
  float low;
  float high;

  /** Weight of a rank, for all lanes. */
  __device__ float of(int rank) const {
    const float held = rank < kWarp ? low : high;
    return __shfl_sync(0xffffffffU, held, rank % kWarp);
  }
};

/** lse of rank r lies at lses[r * stride]; the weight of a rank without keys is 0, also when none has any. */
__device__ inline RankWeights weightsOf(const float* lses, int64_t stride, int ranks, bool base2) {
  constexpr unsigned all = 0xffffffffU;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const float low = lane < ranks ? effectiveLse(lses[lane * stride]) : -INFINITY;
  const float high = lane + kWarp < ranks ? effectiveLse(lses[(lane + kWarp) * stride]) : -INFINITY;
  float most = fmaxf(low, high);
#pragma unroll
  for (int step = kWarp / 2; step > 0; step /= 2) most = fmaxf(most, __shfl_xor_sync(all, most, step));
  if (most == -INFINITY) return {0.0F, 0.0F};
  const float lowPart = power(low - most, base2);
  const float highPart = power(high - most, base2);
  float total = lowPart + highPart;
#pragma unroll
  for (int step = kWarp / 2; step > 0; step /= 2) total += __shfl_xor_sync(all, total, step);
  return {lowPart / total, highPart / total};
}

}  // namespace dcpscope::cuda
