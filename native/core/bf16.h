#pragma once
#include <cstdint>

#include "core/device_code.h"

namespace dcpscope {

/** bfloat16 as its bits; values widen exactly to float. */
static inline DCPSCOPE_HD float fromBf16(uint16_t bits) {
  return __builtin_bit_cast(float, static_cast<uint32_t>(bits) << 16);
}

/** Rounds to nearest even; a NaN stays a NaN. */
static inline DCPSCOPE_HD uint16_t toBf16(float value) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, value);
  if ((bits & 0x7fffffffU) > 0x7f800000U) return static_cast<uint16_t>((bits >> 16) | 0x40U);
  return static_cast<uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}

}  // namespace dcpscope
