#pragma once
#include <cuda_fp16.h>

#include "cuda/sm90/consumer.cuh"

/**
 * Partials of requests that several parts share. What they cost is the way to memory and back, so values are
 * fp16: of each row the largest is brought below 2^15 by a power of two, which leaves an error of 2^-12 of a
 * value, or of 2^-40 of the largest where that is more.
 */
namespace dcpscope::cuda {

/** Slot of the partial of a part's segment: a part has at most one that begins and one that ends elsewhere.
 */
__device__ inline int64_t splitSlot(const KernelArgs& args, int part, int request, int rowBlock) {
  const int which = args.plan.begin[part].request == request ? 0 : 1;
  return static_cast<int64_t>(2 * part + which) * args.rowBlocks + rowBlock;
}

__device__ inline uint32_t packHalf(float low, float high) {
  uint32_t packed;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
  return packed;
}

__device__ inline float2 unpackHalf(uint32_t packed) {
  return __half22float2(*reinterpret_cast<const __half2*>(&packed));
}

/** A store that is not moved: values of later ones are packed behind it, when there are registers for them.
 */
__device__ inline void storeInOrder(uint4* to, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(a), "r"(b), "r"(c), "r"(d)
               : "memory");
}

/** Largest finite magnitude of each of the thread's two rows, over the columns of its warpgroup. */
__device__ inline void largestFinite(const Accumulator<256>& out, float (&most)[2]) {
  most[0] = most[1] = 0;
#pragma unroll
  for (int i = 0; i < 128; ++i) most[i / 2 % 2] = fmaxf(most[i / 2 % 2], fabsf(out.v[i]));
  if (__any_sync(~0U, isinf(most[0]) || isinf(most[1]))) {
    most[0] = most[1] = 0;
#pragma unroll
    for (int i = 0; i < 128; ++i)
      if (!isinf(out.v[i])) most[i / 2 % 2] = fmaxf(most[i / 2 % 2], fabsf(out.v[i]));
  }
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    most[r] = fmaxf(most[r], __shfl_xor_sync(~0U, most[r], 1));
    most[r] = fmaxf(most[r], __shfl_xor_sync(~0U, most[r], 2));
  }
}

/** Powers of two: what values of a row are stored in units of, and its inverse. */
struct StoredUnit {
  __device__ explicit StoredUnit(float most) {
    // Below 2^-112 numbers are small enough as they are.
    const uint32_t exponent = max(__float_as_uint(most) >> 23, 15U);
    unit = __uint_as_float((exponent - 14) << 23);
    inverse = __uint_as_float((268 - exponent) << 23);
  }
  float unit;
  float inverse;
};

/** Writes the thread's half of the columns of a partial; `most` is of the whole rows, `factor` what their
 * values are multiplied with, 0 for rows that saw no key. */
__device__ inline void writePartial(const KernelArgs& args, int64_t slot, int rows, int half,
                                    const Fragment& at, Accumulator<256>& out, const float (&most)[2],
                                    const float (&factor)[2], const float (&lse)[2]) {
  if (at.warp * kUnitRows >= rows) return;
  // Rows that saw no key here: a NaN among keys that others saw must not reach them when parts are merged.
  if (__any_sync(~0U, factor[0] == 0 || factor[1] == 0)) {
#pragma unroll
    for (int i = 0; i < 128; ++i)
      if (factor[i / 2 % 2] == 0) out.v[i] = 0;
  }
  const StoredUnit stored[2] = {StoredUnit(most[0]), StoredUnit(most[1])};
  const auto value = [&](int i) { return out.v[i] * stored[i / 2 % 2].inverse; };
  PartialUnit* to =
      args.splitOut + slot * kUnitsOfPartial + at.warp * kUnitsPerGroup + half * kUnitsPerGroup / 2;
#pragma unroll
  for (int u = 0; u < kUnitsPerGroup / 2; ++u)
    storeInOrder(&to[u].lane[at.lane], packHalf(value(8 * u), value(8 * u + 1)),
                 packHalf(value(8 * u + 2), value(8 * u + 3)), packHalf(value(8 * u + 4), value(8 * u + 5)),
                 packHalf(value(8 * u + 6), value(8 * u + 7)));
  if (half == 1 || at.lane % 4 > 0) return;
#pragma unroll
  for (int r = 0; r < 2; ++r)
    args.splitRows[slot * kRows + at.row + 8 * r] = {lse[r], factor[r] * stored[r].unit};
}

/** Sums of the values that a lane has of a unit, in the order in which they are stored. */
struct UnitSum {
  float v[8];

  /** Adds what is stored, times the weights of the lane's two rows. */
  __device__ void add(const uint4& stored, float weight, float weight8) {
    const uint32_t pairs[4] = {stored.x, stored.y, stored.z, stored.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float2 pair = unpackHalf(pairs[i]);
      const float by = i % 2 == 0 ? weight : weight8;
      v[2 * i] += by * pair.x;
      v[2 * i + 1] += by * pair.y;
    }
  }
};

}  // namespace dcpscope::cuda
