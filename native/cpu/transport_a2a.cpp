#include <array>
#include <cstring>

#include "cpu/rank.h"

namespace dcpscope {

/** One exchange of head slices of out with lse beside them, then a merge in fp32. */
void Rank::a2a(int layer) {
  const Collective collective = enter(layer, Stage::outAllToAll, {ownOut(), ownLse()});
  copySlices(layer);
  // The next layer overwrites partials that a slower rank may still be reading.
  shared_.peers->meet(rank_);
  const int64_t rows = static_cast<int64_t>(shape_.tokens) * shape_.headsPerRank;
  const int64_t row = static_cast<int64_t>(shape_.valueDim) * shape_.wireBytes + 4;
  span(layer, Stage::outAllToAll, collective.enter, {rows * row * (config_.ranks - 1), 0}, &collective);
  const int64_t begun = begin(layer, Stage::merge);
  mergeSlices(layer);
  span(layer, Stage::merge, begun,
       {rows * config_.ranks * row, 2 * rows * config_.ranks * static_cast<int64_t>(shape_.valueDim)});
}

void Rank::copySlices(int layer) {
  const int first = firstHead(layer);
  const int64_t rows = static_cast<int64_t>(shape_.tokens) * shape_.headsPerRank;
  for (int r = 0; r < config_.ranks; ++r) {
    const PeerMemory from = shared_.peers->memory(r);
    for (int t = 0; t < shape_.tokens && !shared_.cancelled(); ++t) {
      const int64_t at = static_cast<int64_t>(t) * config_.heads + first;
      const int64_t to = r * rows + static_cast<int64_t>(t) * shape_.headsPerRank;
      shared_.code.rows.scale(from.out + at * shape_.valueDim * shape_.valueBytes, shared_.bf16(), 1.0F,
                              slices_.data() + to * shape_.valueDim * shape_.wireBytes, shared_.wireBf16(),
                              shape_.headsPerRank * shape_.valueDim);
      std::memcpy(&lses_[to], from.lse + at, static_cast<size_t>(shape_.headsPerRank) * 4);
    }
  }
}

void Rank::mergeSlices(int layer) {
  if (fault(FaultKind::mergeMissing, layer) != nullptr) return keepOwn(layer);
  const int64_t rows = static_cast<int64_t>(shape_.tokens) * shape_.headsPerRank;
  const lse::MergeRule rule = mergeRule(layer);
  std::array<const void*, 64> from{};
  std::array<float, 64> weights{};
  for (int64_t row = 0; row < rows && !shared_.cancelled(); ++row) {
    const double total = lse::merged(&lses_[row], config_.ranks, rows, rule.base2);
    for (int r = 0; r < config_.ranks; ++r) {
      const int64_t at = r * rows + row;
      from[static_cast<size_t>(r)] = slices_.data() + at * shape_.valueDim * shape_.wireBytes;
      weights[static_cast<size_t>(r)] = lse::weight(lses_[at], total, rule);
    }
    shared_.code.rows.merge(
        {from.data(), weights.data(), config_.ranks, shared_.wireBf16(), multipliesZeros()},
        merged(layer) + row * shape_.valueDim * shape_.valueBytes, shared_.bf16(), shape_.valueDim);
  }
}

}  // namespace dcpscope
