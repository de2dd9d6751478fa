#pragma once
#include "cuda/ops/token_stats.cuh"
#include "cuda/sm90/shared.cuh"

/** Statistics of rows, taken where they are written and still in registers: see AttentionInputs::stats. */
namespace dcpscope::cuda {

/** The largest magnitude of what was written of a row, as bits of fp32: infinity above all numbers, NaN above
 * infinity. Values are added in pairs as they are stored. */
template <bool kFp32>
class Largest;

template <>
class Largest<true> {
 public:
  __device__ void add(float a, float b) { most_ = larger(larger(most_, fabsf(a)), fabsf(b)); }
  __device__ uint32_t bits() const { return __float_as_uint(most_); }

 private:
  __device__ static float larger(float a, float b) {
    float most;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(most) : "f"(a), "f"(b));
    return most;
  }
  float most_ = 0;
};

template <>
class Largest<false> {
 public:
  __device__ void add(uint32_t pair) {
    asm("{\n.reg .b32 magnitudes;\nabs.bf16x2 magnitudes, %1;\nmax.NaN.bf16x2 %0, %0, magnitudes;\n}\n"
        : "+r"(most_)
        : "r"(pair));
  }
  __device__ uint32_t bits() const { return max(most_ << 16, most_ & 0xffff0000U); }

 private:
  uint32_t most_ = 0;
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

  /** Magnitude of a value as it is written. */
  __device__ uint32_t magnitudeOf(float value) const {
    const uint32_t bits = args_.outFp32 ? __float_as_uint(value) : packBf16(0, value) & 0xffff0000U;
    return bits & 0x7fffffffU;
  }

  __device__ static void seeMagnitude(StatsRecord& seen, uint32_t bits) {
    seen.outNan += bits > 0x7f800000U ? 1 : 0;
    seen.outInf += bits == 0x7f800000U ? 1 : 0;
    if (finiteBits(bits)) seen.outMost = max(seen.outMost, bits);
  }

  /**
   * Adds what the lanes of a warp have seen of 16 rows of a request from row `first` on; a lane has seen of
   * rows `row` and `row + 8`, in this order, and its records of others are empty. `keys`: whether they have
   * some.
   */
  __device__ void add(int request, int first, int row, StatsRecord (&seen)[2], const bool (&keys)[2]) const {
    const int begin = tokenOf(request, first);
    const int end = tokenOf(request, min(first + 15, args_.rows - 1));
    if (begin == end) {
      join(seen[0], seen[1]);
      joinExtremes(kAllLanes, seen[0]);
      if (__any_sync(kAllLanes, (seen[0].outNan | seen[0].outInf | seen[0].lseNan) != 0))
        sumCounts(kAllLanes, seen[0]);
      if (threadIdx.x % 32 == 0 && keys[0]) addAll(begin, seen[0]);
      return;
    }
#pragma unroll
    for (int r = 0; r < 2; ++r)
      if (row + 8 * r < args_.rows && keys[r]) addAll(tokenOf(request, row + 8 * r), seen[r]);
  }

  /** Adds the lse of one row. */
  __device__ void addLse(int request, int row, float lse) const {
    StatsRecord seen{};
    see(seen, lse);
    if (hasKeys(request, row)) addAll(tokenOf(request, row), seen);
  }

 private:
  /** Token of a row of a request. */
  __device__ int tokenOf(int request, int row) const {
    if (args_.rows == args_.heads) return request;
    return (request * args_.rows + row) / args_.heads;
  }

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
