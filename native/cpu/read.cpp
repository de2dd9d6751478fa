#include "cpu/read.h"

#include "core/simd.h"

namespace dcpscope::DCPSCOPE_ISA {
namespace {

uint32_t sumBytes(const void* from, int64_t bytes) {
  constexpr int kStreams = 8;
  const auto* at = static_cast<const unsigned char*>(from);
  vu total[kStreams] = {};
  for (int64_t i = 0; i < bytes; i += kStreams * static_cast<int64_t>(sizeof(vu)))
#pragma GCC unroll 8
    for (int s = 0; s < kStreams; ++s) total[s] += load<vu>(at + i + s * sizeof(vu));
  for (int s = 1; s < kStreams; ++s) total[0] += total[s];
  return sum(total[0]);
}

}  // namespace

extern const ReadKernels readKernels;
const ReadKernels readKernels{sumBytes};

}  // namespace dcpscope::DCPSCOPE_ISA
