#pragma once
#include <memory>

#include "cuda/attention.h"

namespace dcpscope::cuda {

/** Whether the sm_90 kernel can do `shape` on the current device. */
bool sm90Can(const AttentionShape& shape);
std::unique_ptr<Attention> createSm90(const AttentionShape& shape);

}  // namespace dcpscope::cuda
