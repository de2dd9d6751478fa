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
  constexpr uint32_t infinity = 0x7f800000U;
  constexpr uint32_t largest = 0x43e00000U;      // 448
  constexpr uint32_t leastNormal = 0x3c800000U;  // 2^-6
  constexpr uint32_t exponentShift = 120U << 3;  // bias 127 against 7, above three bits of mantissa
  constexpr float subnormalMagic = 16384.0F;     // one unit in its last place is the step 2^-9 of subnormals
  const uint32_t bits = __builtin_bit_cast(uint32_t, value);
  const uint32_t magnitude = bits & 0x7fffffffU;
  const uint32_t normal = ((magnitude + 0x7ffffU + ((magnitude >> 20) & 1U)) >> 20) - exponentShift;
  const float shifted = exact::sum(__builtin_bit_cast(float, magnitude), subnormalMagic);
  const uint32_t subnormal =
      __builtin_bit_cast(uint32_t, shifted) - __builtin_bit_cast(uint32_t, subnormalMagic);
  uint32_t code = magnitude < leastNormal ? subnormal : normal;
  code = magnitude >= largest ? 0x7eU : code;
  code = magnitude > infinity ? 0x7fU : code;
  return static_cast<uint8_t>(((bits >> 24) & 0x80U) | code);
}

/** Value of an e4m3fn code, exact. */
static inline DCPSCOPE_HD float fromE4m3(uint8_t code) {
  constexpr float leastNormal = 0.015625F;  // 2^-6
  const uint32_t magnitude = code & 0x7fU;
  // A subnormal is made with the exponent of the least normal number, whose leading one is taken off again.
  const bool subnormal = magnitude < 8U;
  const uint32_t bits = (magnitude << 20) + ((subnormal ? 121U : 120U) << 23);
  float value = exact::sum(__builtin_bit_cast(float, bits), subnormal ? -leastNormal : 0.0F);
  value = magnitude == 0x7fU ? __builtin_bit_cast(float, 0x7fc00000U) : value;
  const uint32_t sign = static_cast<uint32_t>(code & 0x80U) << 24;
  return __builtin_bit_cast(float, __builtin_bit_cast(uint32_t, value) | sign);
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
    scales[g] = scaleOf(fromBf16(static_cast<uint16_t>(most)));
    for (int i = 0; i < kGroup; ++i)
      row[g * kGroup + i] = toE4m3(exact::quotient(fromBf16(from[i]), scales[g]));
  }
  for (int i = 0; i < kRope; ++i) rope[i] = values[kLatent + i];
}

}  // namespace dsmla
}  // namespace dcpscope
