#include "core/layout.h"
#include "cpu/rank.h"

/** What a rank does with its pages: fills them, adds new tokens, finds chosen keys. */
namespace dcpscope {
namespace {

/** Largest D of a valid configuration. */
constexpr int kMaxKeyDim = 768;

}  // namespace

void Rank::fill(int layer, int request, int64_t first, int64_t last) {
  const Source source = sourceOf(config_, layer, request);
  alignas(64) unsigned char key[kMaxKeyDim * sizeof(float)];
  const int32_t* pages = shared_.pages.row(request);
  const int64_t end = layout::localLength(last, rank_, config_.ranks, config_.interleave);
  for (int64_t l = layout::localLength(first, rank_, config_.ranks, config_.interleave); l < end; ++l) {
    const int64_t position = layout::globalIndex(l, rank_, config_.ranks, config_.interleave);
    const int64_t slot = layout::slot(pages[l / config_.pageSize], l, config_.pageSize);
    generateRow(config_, keyRow(source, position), shape_.keyDim, key);
    storeKey(config_, shape_.keyDim, key, pool(layer) + slot * shape_.cacheRowBytes);
  }
}

void Rank::append(int layer) {
  const int64_t begun = begin(layer, Stage::kvAppend);
  const int64_t row = static_cast<int64_t>(shape_.keyDim) * shape_.valueBytes;
  int64_t bytes = 0;
  for (int t = 0; t < shape_.tokens; ++t) {
    if (slots_[t] < 0) continue;
    storeKey(config_, shape_.keyDim, shared_.inputs.keys(layer) + t * row,
             pool(layer) + slots_[t] * shape_.cacheRowBytes);
    bytes += shape_.cacheRowBytes;
  }
  span(layer, Stage::kvAppend, begun, {bytes, 0});
}

void Rank::localise(int layer) {
  const int64_t begun = begin(layer, Stage::metadata);
  const int32_t* ids = shared_.inputs.topk(layer);
  for (int t = 0; t < shape_.tokens && !shared_.cancelled(); ++t) {
    const int32_t* table = blockTable(t / config_.qLen);
    int32_t* slots = &chosen_[static_cast<int64_t>(t) * config_.topk];
    visible_[t] = 0;
    for (int j = 0; j < config_.topk; ++j) {
      const int64_t id = ids[static_cast<int64_t>(t) * config_.topk + j];
      slots[j] = -1;
      // Without the first test a -1 would look as if the last rank owned it.
      if (id < 0 || layout::owner(id, config_.ranks, config_.interleave) != rank_) continue;
      const int64_t local = layout::localIndex(id, config_.ranks, config_.interleave);
      slots[j] = static_cast<int32_t>(layout::slot(table[local / config_.pageSize], local, config_.pageSize));
      ++visible_[t];
    }
  }
  span(layer, Stage::metadata, begun, {static_cast<int64_t>(shape_.tokens) * config_.topk * 8, 0});
  keep(layer, "topk", ids);
  keep(layer, "topk_slots", chosen_.data());
}

}  // namespace dcpscope
