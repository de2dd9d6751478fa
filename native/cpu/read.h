#pragma once
#include <cstdint>

namespace dcpscope {

struct ReadKernels {
  /** Reads `bytes` (a multiple of 1024) and returns a sum of them that a caller must keep. */
  uint32_t (*sum)(const void* from, int64_t bytes);
  /** The same with `rounds` multiply-adds on every fp32 value that was read. */
  uint32_t (*multiply)(const void* from, int64_t bytes, int64_t rounds);
};

}  // namespace dcpscope
