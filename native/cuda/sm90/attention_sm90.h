#pragma once
#include <memory>
#include <string>

#include "cuda/attention.h"

namespace dcpscope::cuda {

/** Why the sm_90 kernel cannot do `shape` on the current device; empty when it can. */
std::string refusedBySm90(const AttentionShape& shape);
std::unique_ptr<Attention> createSm90(const AttentionShape& shape);

}  // namespace dcpscope::cuda
