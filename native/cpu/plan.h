#pragma once
#include <algorithm>
#include <cstdint>
#include <numeric>

#include "core/config.h"
#include "core/fault_rules.h"

/** Launch parameters of the attention kernel, all in one place. They follow from the configuration alone,
 * never from the number of cores, so results are the same bytes on any number of threads. */
namespace dcpscope {

/** Keys that are widened and scored at a time, and query rows that share them. */
constexpr int kTileKeys = 64;
constexpr int kUnitRows = 32;
/** Units of work that a rank offers its threads at least, when contexts are long enough to be split. */
constexpr int kUnitsWanted = 16;
/** Shortest range of keys worth a unit of its own. */
constexpr int kLeastSplitKeys = 1024;

/** Query heads that surely share a KV head, whichever map is in use. */
inline int sharingHeads(const Config& config, const Shape& shape) {
  if (!contains(config.faults, FaultKind::gqaHeadMapLocal)) return shape.groupHeads;
  return std::gcd(shape.groupHeads, localGroupHeads(config, shape));
}

struct AttentionPlan {
  explicit AttentionPlan(const Config& config, const Shape& shape)
      : topk(config.topk),
        rowsPerGroup(config.topk > 0 || config.kvHeads > 1 ? sharingHeads(config, shape)
                                                           : shape.rowsPerRequest),
        blocksPerGroup((rowsPerGroup + kUnitRows - 1) / kUnitRows),
        rowBlocks(shape.rowsPerRequest / rowsPerGroup * blocksPerGroup),
        maxSplits(std::clamp((kUnitsWanted + shape.requests * rowBlocks - 1) / (shape.requests * rowBlocks),
                             1, kUnitsWanted)) {
    int64_t longest = 0;
    for (int r = 0; r < shape.requests; ++r) longest = std::max(longest, lastLength(config, r));
    if (splits(keys(longest / config.ranks + config.interleave)) == 1) maxSplits = 1;
  }

  /** Keys, or entries of the list of chosen ones, that the kernel walks over for a request of `length` local
   * keys. */
  int64_t keys(int64_t length) const { return topk > 0 ? topk : length; }

  /** First row of a block among those of its request, and how many it has. */
  int firstRow(int block) const {
    return block / blocksPerGroup * rowsPerGroup + block % blocksPerGroup * kUnitRows;
  }
  int rows(int block) const { return std::min(kUnitRows, rowsPerGroup - block % blocksPerGroup * kUnitRows); }

  /** Keys of one split of `keys`: whole tiles. */
  int64_t splitKeys(int64_t keys) const {
    const int64_t even = (keys + maxSplits - 1) / maxSplits;
    const int64_t least = std::max<int64_t>(even, kLeastSplitKeys);
    return (least + kTileKeys - 1) / kTileKeys * kTileKeys;
  }

  int splits(int64_t keys) const {
    return keys == 0 ? 1 : static_cast<int>((keys + splitKeys(keys) - 1) / splitKeys(keys));
  }

  /** Rows that the splits of all requests keep until they are combined. */
  int64_t splitRows(const Shape& shape) const {
    return maxSplits == 1 ? 0 : static_cast<int64_t>(shape.requests) * shape.rowsPerRequest * maxSplits;
  }

  /** 0: dense. */
  int topk;
  /** Query rows that attend to the same keys and lie together: those of a request, or of one query token when
   * sparse; of several KV heads, those of one. */
  int rowsPerGroup;
  int blocksPerGroup;
  /** Blocks of query rows of one request. */
  int rowBlocks;
  /** Most ranges that the keys of one request are split into; 1: never split. */
  int maxSplits;
};

}  // namespace dcpscope
