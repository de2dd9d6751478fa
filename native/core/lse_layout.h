#pragma once
#include <cstdint>

#include "core/device_code.h"

namespace dcpscope {

/** Where a kernel keeps the lse of its query tokens (T of them, q of a request) and heads (H, padding among
 * them): [T,H], [B,H,q] or [H,T]. */
enum class LseLayout : uint8_t { tokens, requests, heads };

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

  DCPSCOPE_HD constexpr int64_t size() const { return tokens * heads; }
};

}  // namespace dcpscope
