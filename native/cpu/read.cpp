#include "cpu/read.h"

#include "core/simd.h"

namespace dcpscope::DCPSCOPE_ISA {
namespace {

/** Vectors that are worked on at a time, so that no addition waits for the one before. */
constexpr int kStreams = 8;

uint32_t sumBytes(const void* from, int64_t bytes) {
  const auto* at = static_cast<const unsigned char*>(from);
  vu total[kStreams] = {};
  for (int64_t i = 0; i < bytes; i += kStreams * static_cast<int64_t>(sizeof(vu)))
#pragma GCC unroll 8
    for (int s = 0; s < kStreams; ++s) total[s] += load<vu>(at + i + s * sizeof(vu));
  for (int s = 1; s < kStreams; ++s) total[0] += total[s];
  return sum(total[0]);
}

uint32_t multiplyBytes(const void* from, int64_t bytes, int64_t rounds) {
  const auto* at = static_cast<const unsigned char*>(from);
  vf total[kStreams] = {};
  for (int64_t i = 0; i < bytes; i += kStreams * static_cast<int64_t>(sizeof(vf))) {
    vf value[kStreams];
#pragma GCC unroll 8
    for (int s = 0; s < kStreams; ++s) value[s] = load<vf>(at + i + s * sizeof(vf));
    for (int64_t round = 0; round < rounds; ++round)
#pragma GCC unroll 8
      for (int s = 0; s < kStreams; ++s) total[s] = total[s] * 0.5F + value[s];
  }
  for (int s = 1; s < kStreams; ++s) total[0] += total[s];
  return sum(bits<vu>(total[0]));
}

}  // namespace

extern const ReadKernels readKernels;
const ReadKernels readKernels{sumBytes, multiplyBytes};

}  // namespace dcpscope::DCPSCOPE_ISA
