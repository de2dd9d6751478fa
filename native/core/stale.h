#pragma once
#include <algorithm>
#include <cstdint>

#include "core/bf16.h"

/** What memory holds that nobody wrote in this step: finite, far off, and exact in bf16. */
namespace dcpscope {

constexpr float kStaleOut = 4096.0F;
constexpr float kStaleLse = 64.0F;

/** `n` values of one kind, bf16 or fp32. */
inline void fillRow(void* row, bool bf16, float value, int64_t n) {
  if (bf16)
    std::fill_n(static_cast<uint16_t*>(row), n, toBf16(value));
  else
    std::fill_n(static_cast<float*>(row), n, value);
}

}  // namespace dcpscope
