#pragma once
#include "cuda/ops/launch.h"
#include "cuda/ops/transport.h"
#include "cuda/ops/transport_shape.h"
#include "cuda/ops/values.cuh"

/** Work on the rows of a rank's partial, a warp each. */
namespace dcpscope::cuda {

/** Blocks of 256 threads that an SM has room for. */
template <bool Fp32>
constexpr int kRowBlocks = Fp32 ? 6 : 8;

/** n / d and n % d of what is not negative. */
struct Divided {
  int quotient;
  int rest;
};

__device__ inline Divided divided(int n, int d) {
  const int quotient = static_cast<int>(static_cast<unsigned>(n) / static_cast<unsigned>(d));
  return {quotient, n - quotient * d};
}

/** A row as a warp holds it: of its groups of eight values a lane has `lane`, `lane + 32` and so on. */
template <bool Fp32>
struct HeldRow {
  Eight<Fp32> eights[kEightsPerLane];
};

/** Row `row` of `out`, of `count` groups of eight values. */
template <bool Fp32>
__device__ inline HeldRow<Fp32> loadRow(const void* out, int row, int count) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  HeldRow<Fp32> held;
#pragma unroll
  for (int i = 0; i < kEightsPerLane; ++i)
    if (lane + i * kWarp < count)
      held.eights[i] = loadEight<Fp32>(out, int64_t{row} * count + lane + i * kWarp);
  return held;
}

/** Lets each of the `Warps` warps of a block work on one row of the partial `out` [T][H][V]: `work` is given
 * the row and what it holds. */
template <bool Fp32, int Warps, class Work>
__device__ inline void eachRow(const TransportShape& shape, const void* out, Work&& work) {
  const int row = static_cast<int>(blockIdx.x) * Warps + static_cast<int>(threadIdx.x) / kWarp;
  if (row < shape.tokens * shape.heads) work(row, loadRow<Fp32>(out, row, shape.valueDim / kEight));
}

}  // namespace dcpscope::cuda
