#pragma once
#include <cstdint>

#include "core/bf16.h"
#include "core/device_code.h"

namespace dcpscope {

/** Where a kernel keeps the lse of its query tokens (T of them, q of a request) and heads (H, padding among
 * them): [T,H], [B,H,q] or [H,T]. */
enum class LseLayout : uint8_t { tokens, requests, heads };

/** With one query token a request [B,H,q] is [T,H]. */
DCPSCOPE_HD constexpr bool isTokens(LseLayout layout, int64_t qLen) {
  return layout == LseLayout::tokens || (layout == LseLayout::requests && qLen == 1);
}

/** How the step behind the kernel reads its lse; all but the first are faults. */
enum class LseReading : uint8_t {
  right,
  /** In another layout than it was written in. */
  transposed,
  /** As if there were no padding. */
  untrimmed
};

/** An lse tensor of `tokens` times `heads` values in a layout. */
struct LsePlace {
  LseLayout layout;
  int64_t tokens;
  int64_t heads;
  int64_t qLen;

  /** Index of the lse of a head of a query token. */
  DCPSCOPE_HD constexpr int64_t at(int64_t token, int64_t head) const {
    switch (layout) {
      case LseLayout::tokens:
        return token * heads + head;
      case LseLayout::requests:
        return (token / qLen * heads + head) * qLen + token % qLen;
      case LseLayout::heads:
        return head * tokens + token;
    }
    return 0;
  }

  /** Index at which a step finds the lse of row `row` of [T][own heads], the heads without padding. */
  DCPSCOPE_HD constexpr int64_t readAt(int64_t row, int64_t ownHeads, LseReading reading) const {
    switch (reading) {
      case LseReading::right:
        return at(row / ownHeads, row % ownHeads);
      // Rows of [T, padded heads] lie further apart than those of [T, H], which is seen from the second on.
      case LseReading::untrimmed:
        return at(row / heads, row % heads);
      // [T,H] is taken for [H,T], and all others, which are views with strides, for a contiguous [T,H].
      case LseReading::transposed:
        return isTokens(layout, qLen) ? row % ownHeads * tokens + row / ownHeads : row;
    }
    return 0;
  }

  DCPSCOPE_HD constexpr int64_t size() const { return tokens * heads; }
};

/** The lse of a kernel as it keeps it. */
struct KernelLse {
  LsePlace place;
  /** Else fp32. */
  bool bf16;
  void* values;

  /** `index` as of `place.at`. */
  DCPSCOPE_HD void put(int64_t index, float lse) const {
    if (bf16)
      static_cast<uint16_t*>(values)[index] = toBf16(lse);
    else
      static_cast<float*>(values)[index] = lse;
  }
  DCPSCOPE_HD float get(int64_t index) const {
    return bf16 ? fromBf16(static_cast<const uint16_t*>(values)[index])
                : static_cast<const float*>(values)[index];
  }
};

}  // namespace dcpscope
