#include <array>

#include "cpu/rank.h"

namespace dcpscope {

/** Each rank merges its heads right from the partials and lse of its peers. */
void Rank::p2p(int layer) {
  const Collective collective = enter(layer, Stage::merge, {ownOut(), ownLse()});
  mergePeers(layer);
  // The next layer overwrites partials that a slower rank may still be reading.
  shared_.peers->meet(rank_);
  const int64_t rows = static_cast<int64_t>(shape_.tokens) * shape_.headsPerRank;
  const int64_t row = static_cast<int64_t>(shape_.valueDim) * shape_.valueBytes + 4;
  span(layer, Stage::merge, collective.enter,
       {rows * row * (config_.ranks - 1), 2 * rows * config_.ranks * static_cast<int64_t>(shape_.valueDim)},
       &collective);
}

void Rank::mergePeers(int layer) {
  if (fault(FaultKind::mergeMissing, layer) != nullptr) return keepOwn(layer);
  const lse::MergeRule rule = mergeRule(layer);
  const int first = firstHead(layer);
  std::array<PeerMemory, 64> peers{};
  for (int r = 0; r < config_.ranks; ++r) peers[static_cast<size_t>(r)] = shared_.peers->memory(r);
  std::array<const void*, 64> from{};
  std::array<float, 64> lses{};
  std::array<float, 64> weights{};
  const int64_t rows = static_cast<int64_t>(shape_.tokens) * shape_.headsPerRank;
  for (int64_t row = 0; row < rows && !shared_.cancelled(); ++row) {
    const int64_t at = row / shape_.headsPerRank * config_.heads + first + row % shape_.headsPerRank;
    for (size_t r = 0; r < static_cast<size_t>(config_.ranks); ++r) {
      lses[r] = peers[r].lse[at];
      from[r] = peers[r].out + at * shape_.valueDim * shape_.valueBytes;
    }
    const double total = lse::merged(lses.data(), config_.ranks, 1, rule.base2);
    for (size_t r = 0; r < static_cast<size_t>(config_.ranks); ++r)
      weights[r] = lse::weight(lses[r], total, rule);
    shared_.code.rows.merge({from.data(), weights.data(), config_.ranks, shared_.bf16(), multipliesZeros()},
                            merged(layer) + row * shape_.valueDim * shape_.valueBytes, shared_.bf16(),
                            shape_.valueDim);
  }
}

}  // namespace dcpscope
