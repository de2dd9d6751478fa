#pragma once
#include <cstdint>

#include "core/device_code.h"

/** Counter-based integer hashes: the only source of data. Internal linkage, see simd.h. */
namespace dcpscope {

/** Bijective mix of 64 bits. */
static inline DCPSCOPE_HD uint64_t mix64(uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/** What a row of values is for; part of its hash. */
enum class Stream : uint64_t {
  key = 1,
  query = 2,
  direction = 3,
  needle = 4,
  pages = 5,
  check = 6,
  topk = 7
};

static inline DCPSCOPE_HD uint64_t streamHash(uint32_t seed, Stream stream, uint64_t layer,
                                              uint64_t request) {
  const uint64_t base = mix64((static_cast<uint64_t>(seed) << 8) | static_cast<uint64_t>(stream));
  return mix64(base ^ ((layer << 32) | request));
}

}  // namespace dcpscope
