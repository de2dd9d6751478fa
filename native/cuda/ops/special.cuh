#pragma once
#include <cstdint>

#include "cuda/ops/values.cuh"

/** NaN and infinities among eight values at a time, cheap where there are none. */
namespace dcpscope::cuda {

/** Magnitudes as integers: they order like the values, infinity above all numbers, NaN above infinity. */
template <bool Fp32>
struct Magnitude {
  static constexpr uint32_t kInfinity = Fp32 ? 0x7f800000U : 0x7f80U;

  __device__ static uint32_t at(const Eight<Fp32>& eight, int i) {
    const uint32_t* words = wordsOf(eight);
    if constexpr (Fp32) return words[i] & 0x7fffffffU;
    return words[i / 2] >> (16 * (i & 1)) & 0x7fffU;
  }

  /** The largest of the eight. */
  __device__ static uint32_t most(const Eight<Fp32>& eight) {
    const uint32_t* words = wordsOf(eight);
    if constexpr (Fp32) {
      uint32_t top = 0;
#pragma unroll
      for (int i = 0; i < kEight; ++i) top = max(top, words[i] & 0x7fffffffU);
      return top;
    } else {
      uint32_t pair = 0;
#pragma unroll
      for (int i = 0; i < kEight / 2; ++i) pair = __vmaxu2(pair, words[i] & 0x7fff7fffU);
      return max(pair & 0xffffU, pair >> 16);
    }
  }

  /** The bits that fp32 has for it. */
  __device__ static uint32_t bits(uint32_t magnitude) { return Fp32 ? magnitude : magnitude << 16; }
};

}  // namespace dcpscope::cuda
