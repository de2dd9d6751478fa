#include <algorithm>
#include <set>
#include <vector>

#include "core/topk.h"
#include "tests/expect.h"
#include "tests/tests.h"

namespace dcpscope::tests {
namespace {

void permutationsAreBijections() {
  for (uint32_t n = 1; n < 300; ++n)
    for (const uint64_t key : {uint64_t{0}, mix64(n), ~uint64_t{0}}) {
      std::vector<bool> met(n, false);
      for (uint32_t i = 0; i < n; ++i) {
        const uint32_t at = permuted(key, n, i);
        EXPECT(at < n && !met[at]);
        met[at] = true;
      }
    }
}

void choicesAreDistinctAndVisible() {
  for (const bool needles : {false, true})
    for (const int64_t visible : {0, 1, 2, 3, 5, 63, 64, 65, 1000, 40000})
      for (const int topk : {1, 2, 3, 4, 64, 2048}) {
        const Source source = makeSource(7, 1, 2, needles, std::max<int64_t>(visible - 3, 0), 576, 0.07);
        const TopkRow row = topkRow(7, 1, 2, visible - 1, visible, topk, source);
        std::set<int32_t> chosen;
        int none = 0;
        for (int j = 0; j < topk; ++j) {
          const int32_t id = topkId(row, j);
          EXPECT(id >= -1 && id < visible);
          if (id < 0)
            ++none;
          else
            EXPECT(chosen.insert(id).second);
        }
        EXPECT(static_cast<int64_t>(chosen.size()) == std::min<int64_t>(visible, topk));
        EXPECT(none == topk - static_cast<int>(chosen.size()));
        if (topk < kNeedles) continue;
        for (int i = 0; i < source.needles; ++i)
          EXPECT(chosen.count(static_cast<int32_t>(source.needleAt[i])) == 1);
      }
}

/** Neither ids nor the places of -1 are in an order that a kernel could rely on by accident. */
void choicesAreScattered() {
  const Source source = makeSource(1, 0, 0, false, 10000, 576, 0.07);
  const TopkRow full = topkRow(1, 0, 0, 9999, 10000, 512, source);
  int ascents = 0;
  int upperHalf = 0;
  for (int j = 0; j < 512; ++j) {
    if (j > 0) ascents += topkId(full, j) > topkId(full, j - 1) ? 1 : 0;
    upperHalf += topkId(full, j) >= 5000 ? 1 : 0;
  }
  EXPECT(ascents > 180 && ascents < 330);
  EXPECT(upperHalf > 180 && upperHalf < 330);
  const TopkRow sparse = topkRow(1, 0, 0, 255, 256, 512, source);
  int changes = 0;
  for (int j = 1; j < 512; ++j) changes += (topkId(sparse, j) < 0) != (topkId(sparse, j - 1) < 0) ? 1 : 0;
  EXPECT(changes > 150);
  // Another query token chooses others.
  const TopkRow next = topkRow(1, 0, 0, 10000, 10000, 512, source);
  int same = 0;
  for (int j = 0; j < 512; ++j) same += topkId(next, j) == topkId(full, j) ? 1 : 0;
  EXPECT(same < 10);
}

}  // namespace

void sparse() {
  permutationsAreBijections();
  choicesAreDistinctAndVisible();
  choicesAreScattered();
}

}  // namespace dcpscope::tests
