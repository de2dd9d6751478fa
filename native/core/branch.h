#pragma once
#include "core/config.h"

namespace dcpscope {

/**
 * How a serving engine prepares an attention call. Each branch has buffers of its own that a captured graph
 * reads, and refreshes them from what the scheduler hands it: the length with the new token (decode), without
 * the tokens that are to be verified (targetVerify), or with all that the draft has to catch up on
 * (draftExtend).
 */
enum class Branch { decode, targetVerify, draftExtend };

/** The branch that the layers of the model take. */
inline Branch modelBranch(const Config& c) { return c.qLen == 1 ? Branch::decode : Branch::targetVerify; }

/** Layers of the model, and one behind them for the draft where there is one. */
inline int allLayers(const Config& c) { return c.layers + (c.draft ? 1 : 0); }
inline bool isDraft(const Config& c, int layer) { return c.draft && layer == c.layers; }

/** The branch that a layer takes; -1, for what is done once a step, stands for those of the model. */
inline Branch branchOf(const Config& c, int layer) {
  return isDraft(c, layer) ? Branch::draftExtend : modelBranch(c);
}
/** Branches that a run takes. */
inline int branchesOf(const Config& c) { return c.draft ? 2 : 1; }

/** Calls `work` for each layer in the order of a step: the draft proposes, then the model verifies. */
template <class W>
void eachLayer(const Config& c, W work) {
  if (c.draft) work(c.layers);
  for (int layer = 0; layer < c.layers; ++layer) work(layer);
}

}  // namespace dcpscope
