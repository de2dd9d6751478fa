#include "cpu/probe.h"

#include <algorithm>
#include <cstring>

#include "core/block.h"
#include "core/clock.h"
#include "core/memory.h"
#include "cpu/kernels.h"
#include "cpu/pool.h"

namespace dcpscope {

double measureReadBandwidth() {
  constexpr int64_t kMost = int64_t{512} << 20;
  constexpr int64_t kLeast = int64_t{16} << 20;
  constexpr int64_t kPiece = int64_t{1} << 20;
  constexpr int kPasses = 5;
  const int64_t bytes = std::clamp(memoryAvailable().available / 4, kLeast, kMost) / kPiece * kPiece;
  Block<unsigned char> buffer(bytes);
  Pool pool(usableCores());
  const int64_t pieces = bytes / kPiece;
  pool.forEach(pieces, [&](int, int64_t i) { std::memset(buffer.data() + i * kPiece, 1, kPiece); });
  const Clock clock;
  std::atomic<uint32_t> sink{0};
  int64_t best = INT64_MAX;
  for (int pass = 0; pass < kPasses; ++pass) {
    const int64_t begin = clock.now();
    pool.forEach(pieces,
                 [&](int, int64_t i) { sink += kernels().read.sum(buffer.data() + i * kPiece, kPiece); });
    best = std::min(best, clock.now() - begin);
  }
  if (sink == 1) return 0;
  return static_cast<double>(bytes) * 1e9 / static_cast<double>(best);
}

}  // namespace dcpscope
