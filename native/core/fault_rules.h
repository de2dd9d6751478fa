#pragma once
#include <algorithm>
#include <cstdint>

#include "core/device_code.h"
#include "core/layout.h"
#include "core/lse.h"
#include "core/lse_layout.h"
#include "core/run_state.h"

/**
 * What faults make of the stages of a rank, on every device: asked once a stage for the layer and the step at
 * hand. Those of metadata act in core/metadata.h.
 */
namespace dcpscope {

/** Which rows are made neutral. */
struct NeutralRule {
  /** All, whatever keys they have. */
  bool all;
  /** None for lack of keys. */
  bool keeps;
  /** Tokens from here on stay as they are. */
  int end;

  DCPSCOPE_HD bool clears(int token, int32_t visible) const {
    return token < end && (all || (visible <= 0 && !keeps));
  }
};

/** What a rank takes an id of a chosen key for. */
struct Choice {
  static constexpr int64_t kNone = -1;
  /** The last place of the last page of the request. */
  static constexpr int64_t kLastPlace = -2;

  int64_t local;
  /** As a key that the row sees. */
  bool counts;

  /** Slot by the page ids of the request, -1 for none. */
  DCPSCOPE_HD int32_t slot(const int32_t* pages, int64_t columns, int64_t pageSize) const {
    if (local == kNone) return -1;
    if (local == kLastPlace)
      return static_cast<int32_t>(layout::slot(pages[columns > 0 ? columns - 1 : 0], pageSize - 1, pageSize));
    return static_cast<int32_t>(layout::slot(pages[local / pageSize], local, pageSize));
  }
};

/** How a rank takes ids of chosen keys, global positions or -1. */
struct ChoiceRule {
  int rank;
  int ranks;
  int interleave;
  /** Every id for a local one. */
  bool asTheyCome;
  /** -1, which by floored division is right before the first token of the last rank, for a key there. */
  bool ownsSentinel;
  /** And for a place. */
  bool indexesSentinel;

  DCPSCOPE_HD Choice of(int64_t id) const {
    if (id < 0) {
      const bool owned = ownsSentinel && rank == ranks - 1;
      return {owned && indexesSentinel ? Choice::kLastPlace : Choice::kNone, owned};
    }
    if (asTheyCome) return {id, true};
    if (layout::owner(id, ranks, interleave) != rank) return {Choice::kNone, false};
    return {layout::localIndex(id, ranks, interleave), true};
  }
};

/** The fault of a kind that acts on a rank in a layer, of the model or of a draft, in the step at hand; null
 * where none does. */
const Fault* faultOf(const RunState& state, FaultKind kind, int rank, int layer);

NeutralRule neutralRule(const RunState& state, int rank, int layer);
ChoiceRule choiceRule(const RunState& state, int rank, int layer);
/** How the step behind the kernel reads its lse, and whether the kernel rounds it to bf16. */
LseReading lseReading(const RunState& state, int rank, int layer);
bool roundsLse(const RunState& state, int rank, int layer);

/** Rows of [T][H] that have a counter of their splits. Without one, the first split that is done is taken for
 * the last, and the row holds that one alone. */
int64_t countedRows(const RunState& state, int rank, int layer);

/** Query heads of a KV head when those of one rank are counted in place of those of the group. */
inline int localGroupHeads(const Config& config, const Shape& shape) {
  return std::max(1, shape.headsPerRank / std::max(1, config.kvHeads));
}
/** Query heads in a row that attend with one KV head, before those of the next and at last of the first
 * again; with KV heads. */
int headsTogether(const RunState& state, int rank, int layer);

/** How the merge weights partials, and in which base it takes their lse. */
lse::MergeRule mergeRule(const RunState& state, int rank, int layer);
/** The rank whose heads it takes from the exchange: itself, unless a fault says another. */
int headsOf(const RunState& state, int rank, int layer);

}  // namespace dcpscope
