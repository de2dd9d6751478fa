#pragma once
#include <cstdint>

#include "core/bf16.h"
#include "core/device_code.h"

/**
 * Quantised caches, the same bits on CPU and GPU. What goes in are the bf16 values of a key row.
 *
 * fp8: D e4m3 codes, one scale for the whole cache. A kernel multiplies with the codes' values as they are
 * and applies the scale to scores and output. fp8_ds_mla: 656 bytes a token: 512 e4m3 codes of the latent
 * part, four fp32 scales, one a group of 128 values, and 64 bf16 rope values as they are. A kernel uses
 * bf16(value of the code * bf16(scale)).
 */
namespace dcpscope {

constexpr float kE4m3Max = 448.0F;

/** The e4m3fn code next to `value`, ties to even, finite values beyond +-448 as +-448; a NaN stays one. */
static inline DCPSCOPE_HD uint8_t toE4m3(float value) {
  constexpr int32_t infinity = 0x7f800000;
  constexpr int32_t largest = 0x43e00000;  // 448
  constexpr int32_t leastExponent = 121;   // of 2^-6; subnormals have its step
  const uint32_t bits = __builtin_bit_cast(uint32_t, value);
  const auto magnitude = static_cast<int32_t>(bits & 0x7fffffffU);
  // Differences masked by their sign: compilers give up vector code around a condition and floating-point
  // work.
  const int32_t limited = magnitude + ((largest - magnitude) & ((largest - magnitude) >> 31));
  const int32_t above = (limited >> 23) - leastExponent;
  const int32_t exponent = leastExponent + (above & ~(above >> 31));
  // One unit in the last place of `magic` is the step of e4m3 at this exponent: the addition rounds to it.
  const int32_t magic = (exponent + 20) << 23;
  const float shifted = exact::sum(__builtin_bit_cast(float, limited), __builtin_bit_cast(float, magic));
  const int32_t steps = __builtin_bit_cast(int32_t, shifted) - magic;
  const int32_t nan = (infinity - magnitude) >> 31 & 0x7f;
  const int32_t code = (((exponent - leastExponent) << 3) + steps) | nan;
  return static_cast<uint8_t>((bits >> 24 & 0x80U) | static_cast<uint32_t>(code));
}

/** Value of an e4m3fn code, exact. */
static inline DCPSCOPE_HD float fromE4m3(uint8_t code) {
  constexpr int32_t minusLeastNormal = static_cast<int32_t>(0xbc800000U);  // -2^-6
  const int32_t magnitude = code & 0x7f;
  // A subnormal gets the exponent of the least normal number, whose leading one is taken off again.
  const int32_t subnormal = (magnitude - 8) >> 31;
  const int32_t bits = (magnitude << 20) + (120 << 23) + (subnormal & 1 << 23);
  const int32_t leading = subnormal & minusLeastNormal;
  const float value = exact::sum(__builtin_bit_cast(float, bits), __builtin_bit_cast(float, leading));
  const int32_t nan = (0x7e - magnitude) >> 31 & 0x7fc00000;
  const int32_t sign = (code & 0x80) << 24;
  return __builtin_bit_cast(float, __builtin_bit_cast(int32_t, value) | nan | sign);
}

/** Scale of an fp8 cache: the largest magnitude that a generated key can have, over the largest e4m3 value.
 */
static inline DCPSCOPE_HD float fp8Scale(bool needles) {
  constexpr float largestNormal = 3.46F;
  constexpr float largestNeedle = 8.0F;
  return exact::quotient(needles ? largestNormal + largestNeedle : largestNormal, kE4m3Max);
}

/** A row of an fp8 cache: `n` bf16 values to `n` codes. */
static inline DCPSCOPE_HD void quantiseFp8(const uint16_t* values, int n, float scale, uint8_t* row) {
  for (int d = 0; d < n; ++d) row[d] = toE4m3(exact::quotient(fromBf16(values[d]), scale));
}

/** Layout of a row of an fp8_ds_mla cache. Offsets in bytes. */
namespace dsmla {

constexpr int kLatent = 512;
constexpr int kRope = 64;
constexpr int kGroup = 128;
constexpr int kGroups = kLatent / kGroup;
constexpr int kScalesAt = kLatent;
constexpr int kRopeAt = kScalesAt + kGroups * 4;
constexpr int kRowBytes = kRopeAt + kRope * 2;
/** Least largest magnitude of a group, so that a group of zeros has a scale. */
constexpr float kLeastAmax = 1e-4F;

/** Scale of a group of latent values. */
static inline DCPSCOPE_HD float scaleOf(float amax) {
  return exact::quotient(amax > kLeastAmax ? amax : kLeastAmax, kE4m3Max);
}

/** Value of a latent code as a kernel uses it; `scale` is that of its group, fp32. */
static inline DCPSCOPE_HD float value(uint8_t code, float scale) {
  return fromBf16(toBf16(exact::product(fromE4m3(code), fromBf16(toBf16(scale)))));
}

/** kLatent + kRope bf16 values to a row of kRowBytes bytes, which must lie at a multiple of 4. */
static inline DCPSCOPE_HD void quantise(const uint16_t* values, uint8_t* row) {
  auto* scales = reinterpret_cast<float*>(row + kScalesAt);
  auto* rope = reinterpret_cast<uint16_t*>(row + kRopeAt);
  for (int g = 0; g < kGroups; ++g) {
    const uint16_t* from = values + g * kGroup;
    uint32_t most = 0;
    for (int i = 0; i < kGroup; ++i) {
      const uint32_t magnitude = from[i] & 0x7fffU;
      most = magnitude > most ? magnitude : most;
    }
    const float scale = scaleOf(fromBf16(static_cast<uint16_t>(most)));
    for (int i = 0; i < kGroup; ++i) row[g * kGroup + i] = toE4m3(exact::quotient(fromBf16(from[i]), scale));
    scales[g] = scale;
  }
  for (int i = 0; i < kRope; ++i) rope[i] = values[kLatent + i];
}

}  // namespace dsmla

/** The two writers above in the vector code of one instruction set. */
struct QuantiseKernels {
  void (*fp8)(const uint16_t* values, int n, float scale, uint8_t* row);
  void (*dsMla)(const uint16_t* values, uint8_t* row);
};

}  // namespace dcpscope
