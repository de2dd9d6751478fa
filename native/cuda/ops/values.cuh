#pragma once
#include <cuda_bf16.h>

#include <cstdint>

/** Eight neighbouring values, the unit of vector access: 16 bytes of bf16 or 32 of fp32, aligned to 16. */
namespace dcpscope::cuda {

constexpr int kEight = 8;

template <bool Fp32>
struct Eight {
  uint4 raw[Fp32 ? 2 : 1];
};

template <bool Fp32>
__device__ inline Eight<Fp32> loadEight(const void* base, int64_t index) {
  constexpr int words = Fp32 ? 2 : 1;
  const auto* from = static_cast<const uint4*>(base) + index * words;
  Eight<Fp32> eight;
#pragma unroll
  for (int i = 0; i < words; ++i) eight.raw[i] = from[i];
  return eight;
}

template <bool Fp32>
__device__ inline void storeEight(void* base, int64_t index, const Eight<Fp32>& eight) {
  constexpr int words = Fp32 ? 2 : 1;
  auto* to = static_cast<uint4*>(base) + index * words;
#pragma unroll
  for (int i = 0; i < words; ++i) to[i] = eight.raw[i];
}

/** The 32-bit words of eight values. */
template <bool Fp32>
__device__ inline const uint32_t* wordsOf(const Eight<Fp32>& eight) {
  return &eight.raw[0].x;
}

template <bool Fp32>
__device__ inline void widen(const Eight<Fp32>& eight, float (&to)[kEight]) {
  const uint32_t* words = wordsOf(eight);
#pragma unroll
  for (int i = 0; i < kEight; ++i) {
    if constexpr (Fp32)
      to[i] = __uint_as_float(words[i]);
    else
      to[i] = __uint_as_float(i % 2 == 0 ? words[i / 2] << 16 : words[i / 2] & 0xffff0000U);
  }
}

/** Rounds to nearest even. */
template <bool Fp32>
__device__ inline Eight<Fp32> narrow(const float (&from)[kEight]) {
  Eight<Fp32> eight;
  uint32_t* words = &eight.raw[0].x;
  if constexpr (Fp32) {
#pragma unroll
    for (int i = 0; i < kEight; ++i) words[i] = __float_as_uint(from[i]);
  } else {
#pragma unroll
    for (int i = 0; i < kEight / 2; ++i) {
      const __nv_bfloat162 pair = __floats2bfloat162_rn(from[2 * i], from[2 * i + 1]);
      words[i] = *reinterpret_cast<const uint32_t*>(&pair);
    }
  }
  return eight;
}

}  // namespace dcpscope::cuda
