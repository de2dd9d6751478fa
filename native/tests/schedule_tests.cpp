#include <map>
#include <random>
#include <set>
#include <vector>

#include "cuda/portable/group_rows.h"
#include "cuda/portable/schedule.h"
#include "tests/expect.h"
#include "tests/tests.h"

namespace dcpscope::tests {
namespace {

using namespace cuda::portable;

/** Deals out groups of `tiles` tiles with `items` items each, and checks who does what. */
void dealOut(const std::vector<int64_t>& tiles, int items, int64_t blocks, int64_t tileKeys) {
  std::vector<int64_t> begin{0};
  for (const int64_t count : tiles) begin.push_back(begin.back() + items * (kItemCost + count));
  const int64_t share = shareOf(begin.back(), blocks, tileKeys);
  EXPECT(share * blocks >= begin.back());

  std::set<int64_t> slots;
  std::map<int64_t, int64_t> tilesOfBlock;
  for (size_t group = 0; group < tiles.size(); ++group) {
    for (int index = 0; index < items; ++index) {
      const Item item = itemOf(begin[group], begin[group + 1], items, index);
      EXPECT(item.tiles == tiles[group]);
      EXPECT(item.begin >= begin[group] && item.end() <= begin[group + 1]);
      EXPECT(item.firstBlock(share) <= item.lastBlock(share) && item.lastBlock(share) < blocks);
      int64_t next = 0;
      for (int64_t block = item.firstBlock(share); block <= item.lastBlock(share); ++block) {
        EXPECT(item.firstTile(block, share) == next);
        next = item.endTile(block, share);
        EXPECT(next > item.firstTile(block, share) || item.tiles == 0);
        tilesOfBlock[block] += next - item.firstTile(block, share);
        if (!item.split(share)) continue;
        const int64_t slot = slotOf(item, block, share);
        EXPECT(slot >= 0 && slot < 2 * blocks);
        EXPECT(slots.insert(slot).second);
      }
      EXPECT(next == item.tiles);
    }
  }
  for (const auto& [block, count] : tilesOfBlock) EXPECT(count <= share);
}

/** The groups of some requests have every row once: of their request and of heads that share their KV head.
 */
void groupsHaveEveryRowOnce(const KvGroups& of) {
  constexpr int kRequests = 3;
  std::set<int64_t> rows;
  const int each = of.heads / of.kvHeads;
  for (int group = 0; group < kRequests * of.kvHeads; ++group)
    for (int i = 0; i < of.qLen * each; ++i) {
      const int64_t row = groupedRow(of, group, i);
      EXPECT(rows.insert(row).second);
      EXPECT(row / of.heads / of.qLen == group / of.kvHeads);
      EXPECT(row % of.heads / of.together % of.kvHeads == group % of.kvHeads);
    }
  EXPECT(rows.size() == static_cast<size_t>(kRequests * of.qLen * of.heads));
  EXPECT(*rows.begin() == 0 && *rows.rbegin() == kRequests * of.qLen * of.heads - 1);
}

}  // namespace

void schedule() {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::vector<int64_t> tiles(1 + random() % 40);
    const int64_t longest = round % 3 == 0 ? 3 : round % 3 == 1 ? 60 : 5000;
    for (int64_t& count : tiles) count = int64_t(random() % uint64_t(longest));
    dealOut(tiles, int(1 + random() % 9), int64_t(1 + random() % 300), round % 2 == 0 ? 16 : 32);
  }
  dealOut({0}, 1, 132, 16);
  dealOut({65536, 0, 1}, 64, 264, 16);
  for (const int qLen : {1, 2, 8})
    for (const auto& [heads, kvHeads] : {std::pair(8, 2), {28, 4}, {3, 3}, {16, 1}})
      for (const int together : {1, 2, heads / kvHeads})
        if (heads % (together * kvHeads) == 0) groupsHaveEveryRowOnce({qLen, heads, kvHeads, together});
}

}  // namespace dcpscope::tests
