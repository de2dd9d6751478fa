#pragma once
#include <cstdint>

namespace dcpscope {

struct ReadKernels {
  /** Reads `bytes` (a multiple of 1024) and returns a sum of them that a caller must keep. */
  uint32_t (*sum)(const void* from, int64_t bytes);
};

}  // namespace dcpscope
