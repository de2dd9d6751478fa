#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>

#include "core/config.h"
#include "core/layout.h"

namespace dcpscope {

/**
 * How the tokens of one request are dealt out over the ranks: as layout.h says, and where generated tokens
 * begin again at rank 0 (Helix), the same once more for those behind the prompt. A rank keeps its tokens one
 * after the other, so those of the prompt come first. Lengths and positions in tokens.
 */
struct Deal {
  static constexpr int64_t kGoesOn = std::numeric_limits<int64_t>::max();

  int64_t ranks;
  int64_t interleave;
  /** Tokens of the prompt, behind which rank 0 begins again; kGoesOn: generated tokens go on where it ended.
   */
  int64_t prompt = kGoesOn;

  DCPSCOPE_HD constexpr int64_t owner(int64_t token) const {
    return layout::owner(token < prompt ? token : token - prompt, ranks, interleave);
  }

  /** Tokens below `length` that a rank holds; they never increase with the rank. */
  DCPSCOPE_HD constexpr int64_t localLength(int64_t length, int64_t rank) const {
    const int64_t ofPrompt = layout::localLength(std::min(length, prompt), rank, ranks, interleave);
    // Rows that pad a batch see negative lengths, from which kGoesOn cannot be taken.
    return length <= prompt ? ofPrompt
                            : ofPrompt + layout::localLength(length - prompt, rank, ranks, interleave);
  }

  DCPSCOPE_HD constexpr int64_t localIndex(int64_t token) const {
    if (token < prompt) return layout::localIndex(token, ranks, interleave);
    return localLength(prompt, owner(token)) + layout::localIndex(token - prompt, ranks, interleave);
  }

  DCPSCOPE_HD constexpr int64_t globalIndex(int64_t local, int64_t rank) const {
    const int64_t ofPrompt = layout::localLength(prompt, rank, ranks, interleave);
    return local < ofPrompt ? layout::globalIndex(local, rank, ranks, interleave)
                            : prompt + layout::globalIndex(local - ofPrompt, rank, ranks, interleave);
  }

  /** Columns of the block table that `length` tokens need: those of rank 0, which holds the most. */
  DCPSCOPE_HD constexpr int64_t columns(int64_t length, int64_t pageSize) const {
    return (localLength(length, 0) + pageSize - 1) / pageSize;
  }

  /** The first column that is not full on every rank. */
  DCPSCOPE_HD constexpr int64_t openColumn(int64_t length, int64_t pageSize) const {
    return localLength(length, ranks - 1) / pageSize;
  }
};

/** The deal of a request; `interleave` is another than configured where a fault takes one. */
inline Deal dealOf(const Config& c, int request, int64_t interleave) {
  return {c.ranks, interleave, c.restarts ? c.contextLens[static_cast<size_t>(request)] : Deal::kGoesOn};
}
inline Deal dealOf(const Config& c, int request) { return dealOf(c, request, c.interleave); }

static_assert(Deal{4, 1}.localLength(-7, 0) == 0);

}  // namespace dcpscope
