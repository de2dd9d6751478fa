#pragma once
#include <cstdint>

#include "cuda/portable/ptx.cuh"
#include "cuda/portable/tile.cuh"

/** Quantised rows in shared memory to bf16. */
namespace dcpscope::cuda::portable {

/**
 * Value of e4m3 code `index` of four in `codes`, 480 for a code of NaN. Its exponent and mantissa become
 * those of a float 2^120 too small (a subnormal stays one), which the product makes up for, exactly.
 */
__device__ inline float fromE4m3(uint32_t codes, int index) {
  const uint32_t code = codes >> (8 * index);
  return __uint_as_float((code & 0x80U) << 24 | (code & 0x7fU) << 20) * 0x1p120f;
}

/** Whether one of four codes is NaN: all its bits but the sign are set, so that one more carries into it. */
__device__ inline bool holdsNan(uint32_t codes) {
  return (((codes & 0x7f7f7f7fU) + 0x01010101U) & 0x80808080U) != 0;
}

/** Of two bf16, those made of codes of NaN become NaN. */
__device__ inline uint32_t keepNan(uint32_t values, uint32_t codes) {
  constexpr uint32_t kNan = 0x7fc0U;
  return values | ((codes & 0x7fU) == 0x7fU ? kNan : 0) | ((codes & 0x7f00U) == 0x7f00U ? kNan << 16 : 0);
}

/** 16 codes to 16 bf16; each value times `scale`, rounded once. */
__device__ inline void spreadCodes(const uint4& codes, float scale, uint4* to) {
  const uint32_t words[4] = {codes.x, codes.y, codes.z, codes.w};
  uint32_t halves[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const uint32_t word = words[i / 2];
    const int first = i % 2 * 2;
    halves[i] = packBf16(fromE4m3(word, first) * scale, fromE4m3(word, first + 1) * scale);
  }
  if (holdsNan(codes.x) || holdsNan(codes.y) || holdsNan(codes.z) || holdsNan(codes.w)) {
#pragma unroll
    for (int i = 0; i < 8; ++i) halves[i] = keepNan(halves[i], words[i / 2] >> (i % 2 * 16));
  }
  to[0] = make_uint4(halves[0], halves[1], halves[2], halves[3]);
  to[1] = make_uint4(halves[4], halves[5], halves[6], halves[7]);
}

/** One row by one warp; `raw` and `to` are 16-byte aligned. */
template <KvType kv>
__device__ inline void spreadRow(const unsigned char* raw, unsigned char* to, int keyDim, int lane) {
  const auto* from = reinterpret_cast<const uint4*>(raw);
  auto* values = reinterpret_cast<uint4*>(to);
  if constexpr (kv == KvType::fp8) {
    for (int chunk = lane; chunk < keyDim / 16; chunk += 32)
      spreadCodes(from[chunk], 1.0f, values + 2 * chunk);
  } else {
    // 32 chunks of 16 codes, four scales of eight chunks each, and the rope part in eight chunks of its own.
    const float scale = reinterpret_cast<const float*>(raw + kDsMlaLatent)[lane / 8];
    const float rounded = __uint_as_float(packBf16(0.0f, scale) & 0xffff0000U);
    spreadCodes(from[lane], rounded, values + 2 * lane);
    if (lane < 8) values[2 * kDsMlaLatent / 16 + lane] = from[kDsMlaLatent / 16 + 1 + lane];
  }
}

}  // namespace dcpscope::cuda::portable
