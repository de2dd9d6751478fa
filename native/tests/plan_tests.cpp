#include <algorithm>
#include <random>
#include <vector>

#include "cuda/plan_walk.h"
#include "tests/expect.h"
#include "tests/tests.h"

namespace dcpscope::tests {
namespace {

using namespace cuda;

/** Deals out requests of these lengths, and checks that every tile is in one part and no part costs too much.
 */
void dealOut(const std::vector<int32_t>& lengths, int32_t parts) {
  std::vector<int32_t> costBefore{0};
  for (const int32_t length : lengths)
    costBefore.push_back(costBefore.back() + tilesOf(length) + kOverheadTiles);
  const Batch batch{costBefore.data(), static_cast<int32_t>(lengths.size())};
  const int32_t least = leastPayload(costBefore.back(), parts);
  int32_t payload = least;
  while (walk(batch, payload, parts, nullptr).parts > parts) ++payload;
  EXPECT(payload < least + kPayloads);

  std::vector<TilePlace> begin(static_cast<size_t>(parts) + 1, TilePlace{batch.requests, 0});
  const Walk done = walk(batch, payload, parts, begin.data());
  EXPECT(done.parts >= 1 && done.parts <= parts);
  EXPECT(begin[0].request == 0 && begin[0].tile == 0);
  for (int32_t p = 0; p < done.parts; ++p) {
    const TilePlace from = begin[static_cast<size_t>(p)];
    const TilePlace to = begin[static_cast<size_t>(p) + 1];
    EXPECT(from.request < to.request || (from.request == to.request && from.tile < to.tile));
    EXPECT(from.tile < batch.tiles(from.request));
    EXPECT(to.request == batch.requests ? to.tile == 0 : to.tile < batch.tiles(to.request));
    int32_t cost = 0;
    int32_t shared = 0;
    for (int32_t r = from.request; r <= std::min(to.request, batch.requests - 1); ++r) {
      const int32_t first = r == from.request ? from.tile : 0;
      const int32_t last = r == to.request ? to.tile : batch.tiles(r);
      if (first == last) continue;
      cost += last - first + kOverheadTiles;
      shared += last - first < batch.tiles(r) ? 1 : 0;
    }
    EXPECT(cost <= payload);
    EXPECT(shared <= done.shared && shared <= 2);
  }
}

}  // namespace

void plans() {
  std::mt19937 random(11);
  for (int round = 0; round < 3000; ++round) {
    std::vector<int32_t> lengths(1 + random() % (round % 50 == 0 ? 4096 : 70));
    const uint32_t longest = round % 4 == 0 ? 65 : round % 4 == 1 ? 5000 : round % 4 == 2 ? 200000 : 2000000;
    for (int32_t& length : lengths) length = static_cast<int32_t>(random() % longest);
    dealOut(lengths, static_cast<int32_t>(1 + random() % 160));
  }
  dealOut({0}, 132);
  dealOut({1 << 24, 0, 1}, 132);
  dealOut(std::vector<int32_t>(64, 4096), 132);
  dealOut(std::vector<int32_t>(4096, 1 << 24), 8);
}

}  // namespace dcpscope::tests
