#pragma once
#include <cstdint>

#include "core/bf16.h"
#include "core/generate.h"

namespace dcpscope::cuda {

/** Generated values d .. d + 3 of a row in bf16. */
__device__ inline uint2 generatedFour(const RowSpec& spec, int d) {
  uint32_t words[2];
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const uint32_t low = toBf16(generatedValue(spec, d + 2 * i));
    const uint32_t high = toBf16(generatedValue(spec, d + 2 * i + 1));
    words[i] = low | high << 16;
  }
  return make_uint2(words[0], words[1]);
}

}  // namespace dcpscope::cuda
