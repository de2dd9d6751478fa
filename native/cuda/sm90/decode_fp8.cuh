#pragma once
#include <cstdint>

/** e4m3 codes as bf16 values. */
namespace dcpscope::cuda {

/**
 * A factor as bf16x2 for `decodeFp8`. An e4m3 code whose sign and other bits are put where a bf16 has them is
 * the code's value times 2^-120: one product with the factor times 2^120 sets exponent and scale at once,
 * subnormals included. The scale is rounded to bf16, and each product once more; without a scale (1) values
 * are exact. Scales from 256 on give infinities, and NaN codes are not kept.
 */
__device__ inline uint32_t fp8Factor(float scale) {
  uint32_t rounded;
  asm("cvt.rn.bf16x2.f32 %0, %1, %1;" : "=r"(rounded) : "f"(scale * 0x1p120F));
  return rounded;
}

__device__ inline uint32_t multiplyBf16(uint32_t a, uint32_t b) {
  uint32_t product;
  asm("mul.rn.bf16x2 %0, %1, %2;" : "=r"(product) : "r"(a), "r"(b));
  return product;
}

/** Two codes in the low bytes of the halves of `spread` to two values. The sign moves by a product, since
 * that unit has time and the one for bits has not: 16 + 0xF0 is the step from bit 7 to bit 15. */
__device__ inline uint32_t decodePair(uint32_t spread, uint32_t factor) {
  const uint32_t bits = spread * 16 + (spread & 0x00800080U) * 0xF0U;
  return multiplyBf16(bits, factor);
}

/** Four codes, the lowest byte first, to four values. */
__device__ inline uint2 decodeFp8(uint32_t codes, uint32_t factor) {
  return make_uint2(decodePair(__byte_perm(codes, 0, 0x4140), factor),
                    decodePair(__byte_perm(codes, 0, 0x4342), factor));
}

}  // namespace dcpscope::cuda
