#pragma once
#include "cuda/ops/token_stats.cuh"
#include "cuda/sm90/shared.cuh"

/** Statistics of rows, taken where they are written and still in registers: see AttentionInputs::stats. */
namespace dcpscope::cuda {

/** The largest magnitude of some values, NaN above all others. */
class Largest {
 public:
  __device__ void add(float value) { asm("max.NaN.f32 %0, %0, %1;" : "+f"(most_) : "f"(fabsf(value))); }
  __device__ float value() const { return most_; }

 private:
  float most_ = 0;
};

/** Whether a magnitude is a number. */
__device__ inline bool finiteBits(uint32_t bits) { return bits < 0x7f800000U; }

class RowStats {
 public:
  __device__ explicit RowStats(const KernelArgs& args) : args_(args) {}

  __device__ bool wanted() const { return args_.inputs.stats != nullptr; }

  /** Whether the kernel takes statistics of a row of a request: it has keys. Others are neutralize's. */
  __device__ bool hasKeys(int request, int row) const {
    return (args_.inputs.bounds == nullptr ? args_.lengths[request]
                                           : args_.inputs.bounds[tokenOf(request, row)]) > 0;
  }

  /** Magnitude of a value as it is written, as bits of fp32. Rounding keeps the order. */
  __device__ uint32_t magnitudeOf(float value) const {
    const uint32_t bits = args_.outFp32 ? __float_as_uint(value) : packBf16(0, value) & 0xffff0000U;
    return bits & 0x7fffffffU;
  }

  __device__ static void seeMagnitude(StatsRecord& seen, uint32_t bits) {
    seen.outNan += bits > 0x7f800000U ? 1 : 0;
    seen.outInf += bits == 0x7f800000U ? 1 : 0;
    if (finiteBits(bits)) seen.outMost = max(seen.outMost, bits);
  }

  /** Sees values as they are written. */
  template <int kCount>
  __device__ void seeValues(StatsRecord& seen, const float (&values)[kCount]) const {
    Largest largest;
#pragma unroll
    for (const float value : values) largest.add(value);
    const uint32_t most = magnitudeOf(largest.value());
    if (finiteBits(most)) {
      seen.outMost = max(seen.outMost, most);
      return;
    }
#pragma unroll 1
    for (const float value : values) seeMagnitude(seen, magnitudeOf(value));
  }

  /** Makes a of what a and b have seen. */
  __device__ static void join(StatsRecord& a, const StatsRecord& b) {
    a.outNan += b.outNan;
    a.outInf += b.outInf;
    a.lseNan += b.lseNan;
    a.outMost = max(a.outMost, b.outMost);
    a.lseLow = max(a.lseLow, b.lseLow);
    a.lseHigh = max(a.lseHigh, b.lseHigh);
  }

  /** The token of all rows from `first` to `last` of a request, -1 when they are of several. */
  __device__ int onlyToken(int request, int first, int last) const {
    const int token = tokenOf(request, first);
    return tokenOf(request, min(last, args_.rows - 1)) == token ? token : -1;
  }

  /** Adds what the lanes of a warp have seen of a token that has keys. */
  __device__ void addJoined(int token, StatsRecord& seen) const {
    joinExtremes(kAllLanes, seen);
    if (__any_sync(kAllLanes, (seen.outNan | seen.outInf | seen.lseNan) != 0)) sumCounts(kAllLanes, seen);
    if (threadIdx.x % 32 == 0) addAll(token, seen);
  }

  /**
   * Adds what the lanes of a warp have seen of 16 rows of a request from row `first` on; a lane has seen of
   * rows `row` and `row + 8`, in this order, and its records of others are empty. `keys`: whether they have
   * some.
   */
  __device__ void add(int request, int first, int row, StatsRecord (&seen)[2], const bool (&keys)[2]) const {
    const int token = onlyToken(request, first, first + 15);
    if (token >= 0) {
      join(seen[0], seen[1]);
      // Lane 0 has the first row, and with it what all have.
      if (__shfl_sync(kAllLanes, keys[0] ? 1 : 0, 0) != 0) addJoined(token, seen[0]);
      return;
    }
#pragma unroll
    for (int r = 0; r < 2; ++r)
      if (row + 8 * r < args_.rows && keys[r]) addAll(tokenOf(request, row + 8 * r), seen[r]);
  }

  /** Adds the lse of one row that has keys. */
  __device__ void addLse(int request, int row, float lse) const {
    StatsRecord seen{};
    see(seen, lse);
    addAll(tokenOf(request, row), seen);
  }

 private:
  /** Token of a row of a request. */
  __device__ int tokenOf(int request, int row) const {
    if (args_.rows == args_.heads) return request;
    return (request * args_.rows + row) / args_.heads;
  }

  __device__ void addAll(int token, const StatsRecord& seen) const {
    addCounts(args_.inputs.stats + token, seen);
    addExtremes(args_.inputs.stats + token, seen);
  }

  const KernelArgs& args_;
};

}  // namespace dcpscope::cuda
