#pragma once
#include "cuda/ops/block_stamp.h"
#include "cuda/ops/token_stats.cuh"
#include "cuda/ops/transport.h"
#include "cuda/ops/transport_shape.h"

/** Work on the rows of a rank's partial, a warp each, and the statistics that are taken on the way. */
namespace dcpscope::cuda {

/** Blocks of 256 threads that an SM has room for; they must not become fewer where statistics are taken. */
template <bool Fp32>
constexpr int kRowBlocks = Fp32 ? 6 : 8;

/** out [T][H][V] and lse [T][H]. */
struct Partial {
  const void* out;
  const float* lse;
};

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

template <bool Fp32>
__device__ inline HeldRow<Fp32> loadRow(const Partial& partial, int row, int count) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  HeldRow<Fp32> held;
#pragma unroll
  for (int i = 0; i < kEightsPerLane; ++i)
    if (lane + i * kWarp < count)
      held.eights[i] = loadEight<Fp32>(partial.out, int64_t{row} * count + lane + i * kWarp);
  return held;
}

/** Largest magnitude of a row, for all lanes. */
template <bool Fp32>
__device__ inline uint32_t mostOf(const HeldRow<Fp32>& held, int count) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  uint32_t most = 0;
#pragma unroll
  for (int i = 0; i < kEightsPerLane; ++i)
    if (lane + i * kWarp < count) most = max(most, Magnitude<Fp32>::most(held.eights[i]));
  return __reduce_max_sync(kAllLanes, most);
}

/** What a row raises in the record of its token; zeroes raise nothing. */
struct RowExtremes {
  uint32_t outMost;
  uint32_t lseKey;
};

/**
 * Counts what is not finite in a row, for the record of its token; returns the row's largest finite
 * magnitude. Few rows need it. They are read again, so that the others need not hold on to their values.
 */
template <bool Fp32>
__device__ inline uint32_t countSpecial(const Partial& partial, int row, int count, StatsRecord* token) {
  StatsRecord seen{};
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
#pragma unroll 1
  for (int i = lane; i < count; i += kWarp) see(seen, loadEight<Fp32>(partial.out, int64_t{row} * count + i));
  sumCounts(kAllLanes, seen);
  if (lane == 0) addCounts(token, seen);
  return __reduce_max_sync(kAllLanes, seen.outMost);
}

/** What a warp sees of the row that it holds. */
template <bool Fp32>
__device__ inline RowExtremes seeRow(const Partial& partial, int row, int count, const HeldRow<Fp32>& held,
                                     StatsRecord* token) {
  uint32_t most = mostOf(held, count);
  most = most < Magnitude<Fp32>::kInfinity ? Magnitude<Fp32>::bits(most)
                                           : countSpecial<Fp32>(partial, row, count, token);
  // Near since `work` read it: until here it would take a register.
  const float lse = partial.lse[row];
  if (!isnan(lse)) return {most, orderKey(lse)};
  if (threadIdx.x % kWarp == 0) addTo(token->lseNan, 1);
  return {most, 0};
}

/**
 * Adds the extremes of a block's `count` rows from row `first` on, which begin in token `token`, to the
 * records of their tokens: by all threads, behind a barrier.
 */
template <int Warps>
__device__ inline void addRows(const RowExtremes (&rows)[Warps], int first, int count, int token, int heads,
                               StatsRecord* tokens) {
  static_assert(Warps <= kWarp);
  const auto lane = static_cast<int>(threadIdx.x);
  if (lane >= Warps) return;
  StatsRecord seen{};
  if (lane < count) {
    seen.outMost = rows[lane].outMost;
    seen.lseHigh = rows[lane].lseKey;
    seen.lseLow = seen.lseHigh == 0 ? 0 : ~seen.lseHigh;
  }
  const int head = first - token * heads;
  if (head + count > heads) {
    // Rows of several tokens, each for itself.
    addExtremes(tokens + token + divided(head + lane, heads).quotient, seen);
    return;
  }
  joinExtremes(kAllLanes >> (kWarp - Warps), seen);
  if (lane == 0) addExtremes(tokens + token, seen);
}

/**
 * Lets each of the `Warps` warps of a block work on one row of a partial, and ends the block. `work` is given
 * the row and what it holds; statistics are taken behind it, when its stores are on their way.
 */
template <bool Fp32, bool Stats, int Warps, class Work>
__device__ inline void eachRow(const TransportShape& shape, const Partial& partial, const PartialStats& stats,
                               const BlockStamp& stamp, Work&& work) {
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const int count = shape.valueDim / kEight;
  const int rows = shape.tokens * shape.heads;
  const int first = static_cast<int>(blockIdx.x) * Warps;
  const int row = first + warp;
  if constexpr (Stats) {
    __shared__ RowExtremes seen[Warps];
    int token = 0;
    if (row < rows) {
      const HeldRow<Fp32> held = loadRow<Fp32>(partial, row, count);
      token = divided(row, shape.heads).quotient;
      const bool hasKeys = stats.bounds[token] > 0;
      work(row, held);
      const RowExtremes extremes =
          hasKeys ? seeRow(partial, row, count, held, stats.tokens + token) : RowExtremes{};
      if (threadIdx.x % kWarp == 0) seen[warp] = extremes;
    }
    // The first warp adds them, and its row is the first of the block.
    stamp.end([&] { addRows(seen, first, min(Warps, rows - first), token, shape.heads, stats.tokens); });
  } else {
    if (row < rows) work(row, loadRow<Fp32>(partial, row, count));
    stamp.end();
  }
}

}  // namespace dcpscope::cuda
