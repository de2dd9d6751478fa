#pragma once
#include <cstdint>
#include <vector>

#include "core/run_state.h"
#include "cuda/run/timeline.h"

namespace dcpscope::cuda {

/** What kernels of a step worked on, as they read it. */
struct SeenKeys {
  /** Local keys by request, and keys that each query token sees. */
  const int32_t* lengths;
  const int32_t* bounds;
};

/** Bytes and operations of one piece of work, as cpu/rank.cpp counts them. `neutralizeReads`: it reads all
 * rows, for statistics, not only those that it clears. */
Cost costOf(const RunState& state, const Work& work, const SeenKeys& seen, bool neutralizeReads);

}  // namespace dcpscope::cuda
