#pragma once
#include <cstdint>

#include "core/device_code.h"

/**
 * Who holds which token. c = ranks (dcp size), I = interleave, P = tokens of a page, L = global length, all
 * in tokens; t counts global positions from 0. Pure arithmetic, constexpr, no bounds checks: c, I, P >= 1.
 */
namespace dcpscope::layout {

/** Rank that stores token t. */
DCPSCOPE_HD constexpr int64_t owner(int64_t t, int64_t c, int64_t I) { return (t / I) % c; }

/** Index of token t among the tokens of its owner. */
DCPSCOPE_HD constexpr int64_t localIndex(int64_t t, int64_t c, int64_t I) {
  return (t / (c * I)) * I + t % I;
}

/** Global position of local token l of rank r: the inverse of (owner, localIndex). */
DCPSCOPE_HD constexpr int64_t globalIndex(int64_t l, int64_t r, int64_t c, int64_t I) {
  return (l / I) * c * I + r * I + l % I;
}

/** Tokens below L that rank r holds. Also the bound of a query row that sees the global positions below L. */
DCPSCOPE_HD constexpr int64_t localLength(int64_t L, int64_t r, int64_t c, int64_t I) {
  if (L <= 0) return 0;
  const int64_t rest = L % (c * I) - r * I;
  return (L / (c * I)) * I + (rest < 0 ? 0 : rest > I ? I : rest);
}

/** Global positions that query row q of n sees when G is the length with all n new tokens: those below this.
 */
DCPSCOPE_HD constexpr int64_t visibleGlobal(int64_t G, int64_t n, int64_t q) { return G - (n - 1) + q; }

/** Column of the block table (virtual page) of token t. */
DCPSCOPE_HD constexpr int64_t column(int64_t t, int64_t c, int64_t P) { return t / (P * c); }

/** Columns that L tokens need. */
DCPSCOPE_HD constexpr int64_t columns(int64_t L, int64_t c, int64_t P) { return (L + P * c - 1) / (P * c); }

/** Slot of a local token on its owner: its page in the pool times P plus the offset in the page. */
DCPSCOPE_HD constexpr int64_t slot(int64_t page, int64_t local, int64_t P) { return page * P + local % P; }

}  // namespace dcpscope::layout
