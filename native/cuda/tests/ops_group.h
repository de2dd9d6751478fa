#pragma once
#include <algorithm>
#include <numeric>
#include <vector>

#include "core/deal.h"
#include "core/generate.h"
#include "cuda/ops/cache.h"
#include "cuda/tests/ops_bench.h"

namespace dcpscope::cuda::tests {

/** Some requests of a random DCP group as one of its ranks sees them; some only pad the batch. */
struct RandomGroup {
  Ownership own{};
  int requests = 0;
  int qLen = 0;
  std::vector<int64_t> before;
  std::vector<int64_t> after;
  /** Of tokens that are dealt out anew behind prompts; else empty. */
  std::vector<int64_t> prompts;
  /** Pages by request, shuffled over the pool; garbage behind each request's last. */
  std::vector<int32_t> pageTable;
  std::vector<int64_t> tableBegin;
  int64_t poolPages = 0;

  int tokens() const { return requests * qLen; }
  Deal deal(size_t request) const {
    return {own.ranks, own.interleave, prompts.empty() ? Deal::kGoesOn : prompts[request]};
  }
  const int32_t* pages(int request) const {
    return &pageTable[static_cast<size_t>(tableBegin[static_cast<size_t>(request)])];
  }
};

inline Ownership randomOwnership(Random& random) {
  Ownership own{};
  own.ranks = static_cast<int>(random.integer(1, 16));
  // The last rank is the one that a careless modulo gives the id -1.
  own.rank = random.chance(0.3) ? own.ranks - 1 : static_cast<int>(random.integer(0, own.ranks - 1));
  own.interleave = random.pick({1, 4, 16});
  own.pageSize = own.interleave * static_cast<int>(random.integer(1, 8));
  return own;
}

/** `anew`: half of the groups deal tokens behind their prompts out anew. */
inline RandomGroup randomGroup(Random& random, bool anew = false) {
  RandomGroup group;
  group.own = randomOwnership(random);
  group.requests = static_cast<int>(random.integer(1, 40));
  group.qLen = static_cast<int>(random.integer(1, 8));
  const bool restarts = anew && random.chance(0.5);
  std::vector<int64_t> columns;
  for (int r = 0; r < group.requests; ++r) {
    const bool pads = random.chance(0.1);
    const int64_t length = pads ? random.integer(0, 1) : random.integer(0, random.chance(0.3) ? 20 : 3000);
    group.before.push_back(length);
    group.after.push_back(pads ? length : length + group.qLen);
    // Prompts end at any token of the context, mostly a few before the new ones.
    const int64_t generated = random.integer(0, random.chance(0.8) ? 100 : length);
    if (restarts) group.prompts.push_back(std::max<int64_t>(length - generated, 0));
    columns.push_back(group.deal(static_cast<size_t>(r)).columns(length + group.qLen, group.own.pageSize));
    group.poolPages += columns.back();
  }
  std::vector<int32_t> order(static_cast<size_t>(group.poolPages));
  std::iota(order.begin(), order.end(), 0);
  random.shuffle(order);
  size_t next = 0;
  for (int r = 0; r < group.requests; ++r) {
    group.tableBegin.push_back(static_cast<int64_t>(group.pageTable.size()));
    for (int64_t column = 0; column < columns[static_cast<size_t>(r)]; ++column)
      group.pageTable.push_back(order[next++]);
    group.pageTable.push_back(0x7fffffff);
  }
  return group;
}

}  // namespace dcpscope::cuda::tests
