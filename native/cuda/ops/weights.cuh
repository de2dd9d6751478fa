#pragma once
#include <cmath>
#include <cstdint>

#include "cuda/ops/launch.h"
#include "cuda/ops/transport.h"

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

/** Weights from the lse of the ranks `lane` and `lane + 32`, -inf where there is none: 0 for ranks without
 * keys, also when none has any, unless these are to be NaN. */
__device__ inline RankWeights weightsFrom(float low, float high, bool base2, bool emptyNan) {
  constexpr unsigned all = 0xffffffffU;
  float most = fmaxf(low, high);
#pragma unroll
  for (int step = kWarp / 2; step > 0; step /= 2) most = fmaxf(most, __shfl_xor_sync(all, most, step));
  if (most == -INFINITY) {
    const float empty = emptyNan ? NAN : 0.0F;
    return {empty, empty};
  }
  const float lowPart = power(low - most, base2);
  const float highPart = power(high - most, base2);
  float total = lowPart + highPart;
#pragma unroll
  for (int step = kWarp / 2; step > 0; step /= 2) total += __shfl_xor_sync(all, total, step);
  return {lowPart / total, highPart / total};
}

/** The same for `lseOf(rank)`, which a lane calls for its ranks; all of them `shape.same` where they are
 * `Alike`. */
template <bool Alike, class LseOf>
__device__ inline RankWeights weightsOf(const TransportShape& shape, LseOf&& lseOf) {
  if constexpr (Alike) {
    return {shape.same, shape.same};
  } else {
    const int lane = static_cast<int>(threadIdx.x) % kWarp;
    const float low = lane < shape.ranks ? effectiveLse(lseOf(lane)) : -INFINITY;
    const float high = lane + kWarp < shape.ranks ? effectiveLse(lseOf(lane + kWarp)) : -INFINITY;
    return weightsFrom(low, high, shape.base2, shape.emptyNan);
  }
}

}  // namespace dcpscope::cuda
