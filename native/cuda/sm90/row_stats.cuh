#pragma once
#include "cuda/ops/token_stats.cuh"
#include "cuda/sm90/shared.cuh"

/** Statistics of rows, taken where they are written and still in registers: see AttentionInputs::stats. */
namespace dcpscope::cuda {

/** The larger magnitude, NaN if either is. */
__device__ inline float largerOrNan(float a, float b) {
  float larger;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(larger) : "f"(a), "f"(fabsf(b)));
  return larger;
}

class RowStats {
 public:
  __device__ explicit RowStats(const KernelArgs& args) : args_(args) {}

  __device__ bool wanted() const { return args_.inputs.stats != nullptr; }

  /** Token of a row of a request. */
  __device__ int tokenOf(int request, int row) const { return (request * args_.rows + row) / args_.heads; }

  /** Whether the kernel takes statistics of a token: it has keys. Those of others are neutralize's. */
  __device__ bool takes(int request, int token) const {
    return (args_.inputs.bounds == nullptr ? args_.lengths[request] : args_.inputs.bounds[token]) > 0;
  }

  /** What a row says whose largest magnitude before rounding is `most`: nothing of it if that is not finite.
   */
  __device__ uint32_t outMost(float most) const {
    if (!args_.outFp32) most = __uint_as_float(packBf16(most, 0) << 16);
    return most < INFINITY ? __float_as_uint(most) : 0;
  }
  __device__ bool finite(float most) const { return outMost(most) != 0 || most == 0; }

  /** Of a value that was written. */
  __device__ void seeValue(StatsRecord& seen, float value) const {
    if (!args_.outFp32) value = __uint_as_float(packBf16(value, 0) << 16);
    const uint32_t magnitude = __float_as_uint(value) & 0x7fffffffU;
    seen.outNan += magnitude > 0x7f800000U ? 1 : 0;
    seen.outInf += magnitude == 0x7f800000U ? 1 : 0;
    if (magnitude < 0x7f800000U) seen.outMost = max(seen.outMost, magnitude);
  }

  /**
   * Adds what the lanes of a warp have seen of 16 rows of a request from row `first` on; a lane has seen of
   * rows `row` and `row + 8`, in this order, and its records of others are empty.
   */
  __device__ void add(int request, int first, int row, StatsRecord (&seen)[2]) const {
    const int begin = tokenOf(request, first);
    const int end = tokenOf(request, min(first + 15, args_.rows - 1));
    if (begin == end) {
      join(seen[0], seen[1]);
      joinExtremes(kAllLanes, seen[0]);
      if (__any_sync(kAllLanes, (seen[0].outNan | seen[0].outInf | seen[0].lseNan) != 0))
        sumCounts(kAllLanes, seen[0]);
      if (threadIdx.x % 32 == 0 && takes(request, begin)) addAll(begin, seen[0]);
      return;
    }
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      if (row + 8 * r >= args_.rows) continue;
      const int token = tokenOf(request, row + 8 * r);
      if (takes(request, token)) addAll(token, seen[r]);
    }
  }

  /** Adds the lse of one row. */
  __device__ void addLse(int request, int row, float lse) const {
    const int token = tokenOf(request, row);
    StatsRecord seen{};
    see(seen, lse);
    if (takes(request, token)) addAll(token, seen);
  }

 private:
  __device__ static void join(StatsRecord& a, const StatsRecord& b) {
    a.outNan += b.outNan;
    a.outInf += b.outInf;
    a.lseNan += b.lseNan;
    a.outMost = max(a.outMost, b.outMost);
    a.lseLow = max(a.lseLow, b.lseLow);
    a.lseHigh = max(a.lseHigh, b.lseHigh);
  }

  __device__ void addAll(int token, const StatsRecord& seen) const {
    addCounts(args_.inputs.stats + token, seen);
    addExtremes(args_.inputs.stats + token, seen);
  }

  const KernelArgs& args_;
};

}  // namespace dcpscope::cuda
