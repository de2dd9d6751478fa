#pragma once
#include "cuda/ops/launch.h"
#include "cuda/ops/special.cuh"
#include "cuda/ops/token_stats.h"

/** How threads, warps and blocks take the statistics of tokens. */
namespace dcpscope::cuda {

constexpr unsigned kAllLanes = 0xffffffffU;

/** See fromOrderKey; not for NaN. */
__device__ inline uint32_t orderKey(float value) {
  const uint32_t bits = __float_as_uint(value);
  return bits ^ (bits >> 31 != 0 ? 0xffffffffU : 0x80000000U);
}

template <bool Fp32>
__device__ inline void see(StatsRecord& seen, const Eight<Fp32>& eight) {
  using M = Magnitude<Fp32>;
  const uint32_t top = M::most(eight);
  if (top < M::kInfinity) {
    seen.outMost = max(seen.outMost, M::bits(top));
    return;
  }
#pragma unroll
  for (int i = 0; i < kEight; ++i) {
    const uint32_t magnitude = M::at(eight, i);
    seen.outNan += magnitude > M::kInfinity ? 1 : 0;
    seen.outInf += magnitude == M::kInfinity ? 1 : 0;
    seen.outMost = max(seen.outMost, magnitude < M::kInfinity ? M::bits(magnitude) : 0U);
  }
}

__device__ inline void see(StatsRecord& seen, float lse) {
  if (isnan(lse)) {
    ++seen.lseNan;
    return;
  }
  const uint32_t key = orderKey(lse);
  seen.lseLow = max(seen.lseLow, ~key);
  seen.lseHigh = max(seen.lseHigh, key);
}

/** Counts that all lanes of `mask` have seen; each of them gets the sums. */
__device__ inline void sumCounts(unsigned mask, StatsRecord& seen) {
  seen.outNan = __reduce_add_sync(mask, seen.outNan);
  seen.outInf = __reduce_add_sync(mask, seen.outInf);
  seen.lseNan = __reduce_add_sync(mask, seen.lseNan);
}

/** The same for extremes. */
__device__ inline void joinExtremes(unsigned mask, StatsRecord& seen) {
  seen.outMost = __reduce_max_sync(mask, seen.outMost);
  seen.lseLow = __reduce_max_sync(mask, seen.lseLow);
  seen.lseHigh = __reduce_max_sync(mask, seen.lseHigh);
}

__device__ inline void addTo(uint32_t& counter, uint32_t count) {
  if (count != 0) atomicAdd(&counter, count);
}

__device__ inline void raise(uint32_t& extreme, uint32_t value) {
  if (value != 0) atomicMax(&extreme, value);
}

/** Adds counts to the record of a token, to which other blocks may add at the same time. */
__device__ inline void addCounts(StatsRecord* token, const StatsRecord& seen) {
  addTo(token->outNan, seen.outNan);
  addTo(token->outInf, seen.outInf);
  addTo(token->lseNan, seen.lseNan);
}

/** The same for extremes. */
__device__ inline void addExtremes(StatsRecord* token, const StatsRecord& seen) {
  raise(token->outMost, seen.outMost);
  raise(token->lseLow, seen.lseLow);
  raise(token->lseHigh, seen.lseHigh);
}

}  // namespace dcpscope::cuda
