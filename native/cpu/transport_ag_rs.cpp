#include <array>
#include <cstring>

#include "cpu/rank.h"

namespace dcpscope {

/** All-gather of lse, weighting of the own partial, reduce-scatter over heads in the wire type. */
void Rank::agRs(int layer) {
  const int64_t count = static_cast<int64_t>(shape_.tokens) * config_.heads;
  const Collective gather = enter(layer, Stage::lseAllGather, {ownLse()});
  for (int r = 0; r < config_.ranks; ++r)
    std::memcpy(&lses_[r * count], shared_.peers->memory(r).lse, static_cast<size_t>(count) * 4);
  span(layer, Stage::lseAllGather, gather.enter, {count * 4 * (config_.ranks - 1), 0}, &gather);
  const int64_t begun = begin(layer, Stage::lseCorrect);
  correct(layer);
  span(layer, Stage::lseCorrect, begun,
       {count * shape_.valueDim * shape_.valueBytes, count * shape_.valueDim});
  reduceScatter(layer);
}

void Rank::correct(int layer) {
  const int64_t count = static_cast<int64_t>(shape_.tokens) * config_.heads;
  const lse::MergeRule rule = mergeRule(layer);
  const auto apply = multipliesZeros() ? shared_.code.rows.multiply : shared_.code.rows.scale;
  for (int64_t row = 0; row < count && !shared_.cancelled(); ++row) {
    const double total = lse::merged(&lses_[row], config_.ranks, count, rule.base2);
    const float weight = lse::weight(lses_[rank_ * count + row], total, rule);
    apply(out_ + row * shape_.valueDim * shape_.valueBytes, shared_.bf16(), weight,
          own_.wire + row * shape_.valueDim * shape_.wireBytes, shared_.wireBf16(), shape_.valueDim);
  }
}

void Rank::reduceScatter(int layer) {
  const Collective collective = enter(layer, Stage::outReduceScatter, {ownWire()});
  if (fault(FaultKind::mergeMissing, layer) != nullptr)
    keepOwn(layer);
  else
    addSlices(layer);
  const int64_t received = static_cast<int64_t>(shape_.tokens) * shape_.headsPerRank * shape_.valueDim *
                           shape_.wireBytes * (config_.ranks - 1);
  span(layer, Stage::outReduceScatter, collective.enter, {received, 0}, &collective);
}

void Rank::addSlices(int layer) {
  std::array<const unsigned char*, 64> wires{};
  for (int r = 0; r < config_.ranks; ++r) wires[static_cast<size_t>(r)] = shared_.peers->memory(r).wire;
  std::array<const void*, 64> from{};
  const int first = firstHead(layer);
  for (int t = 0; t < shape_.tokens && !shared_.cancelled(); ++t)
    for (int h = 0; h < shape_.headsPerRank; ++h) {
      const int64_t row = static_cast<int64_t>(t) * config_.heads + first + h;
      for (int r = 0; r < config_.ranks; ++r)
        from[static_cast<size_t>(r)] =
            wires[static_cast<size_t>(r)] + row * shape_.valueDim * shape_.wireBytes;
      const int64_t to = static_cast<int64_t>(t) * shape_.headsPerRank + h;
      shared_.code.rows.add(from.data(), config_.ranks, shared_.wireBf16(),
                            merged(layer) + to * shape_.valueDim * shape_.valueBytes, shared_.bf16(),
                            shape_.valueDim);
    }
}

}  // namespace dcpscope
