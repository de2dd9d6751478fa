#include <algorithm>

#include "core/deal.h"
#include "core/fault_rules.h"
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
  const Metadata& written = metadata(layer);
  const int32_t* pages = written.pageTable().row(request);
  const Deal deal = dealOf(config_, request, written.writtenInterleave());
  const int64_t end = deal.localLength(last, rank_);
  for (int64_t l = deal.localLength(first, rank_); l < end; ++l) {
    const int64_t position = deal.globalIndex(l, rank_);
    const int64_t slot = layout::slot(pages[l / config_.pageSize], l, config_.pageSize);
    for (int part = 0; part < shape_.cacheParts; ++part) {
      generateRow(config_, cachedRow(source, position, part, config_.kvHeads), shape_.keyDim, key);
      storeKey(config_, shape_.keyDim, key,
               pool(layer) + slot * shape_.cacheRowBytes + part * shape_.partBytes());
    }
  }
}

void Rank::append(int layer) {
  const int64_t begun = begin(layer, Stage::kvAppend);
  const int64_t row = static_cast<int64_t>(shape_.keyDim) * shape_.valueBytes;
  int64_t bytes = 0;
  const Block<int64_t>& slots = metadata(layer).slots();
  for (int t = 0; t < shape_.tokens; ++t) {
    if (slots[t] < 0) continue;
    for (int part = 0; part < shape_.cacheParts; ++part)
      storeKey(config_, shape_.keyDim, shared_.inputs.keys(layer) + (t * shape_.cacheParts + part) * row,
               pool(layer) + slots[t] * shape_.cacheRowBytes + part * shape_.partBytes());
    bytes += shape_.cacheRowBytes;
  }
  span(layer, Stage::kvAppend, begun, {bytes, 0});
}

void Rank::localise(int layer) {
  const int64_t begun = begin(layer, Stage::metadata);
  const int32_t* ids = shared_.inputs.topk(layer);
  const Metadata& handed = metadata(layer);
  const ChoiceRule rule = choiceRule(shared_.state, rank_, layer);
  for (int t = 0; t < shape_.tokens && !shared_.cancelled(); ++t) {
    const int request = t / config_.qLen;
    const int32_t* pages = handed.pages(request);
    visible_[t] = 0;
    for (int64_t j = 0; j < config_.topk; ++j) {
      const int64_t at = static_cast<int64_t>(t) * config_.topk + j;
      const Choice choice = rule.of(ids[at]);
      local_[at] = static_cast<int32_t>(std::max(choice.local, Choice::kNone));
      chosen_[at] = choice.slot(pages, handed.columns(request), config_.pageSize);
      visible_[t] += choice.counts ? 1 : 0;
    }
  }
  span(layer, Stage::metadata, begun, {static_cast<int64_t>(shape_.tokens) * config_.topk * 8, 0});
  keep(layer, "topk", ids);
  keep(layer, "topk_local", local_.data());
  keep(layer, "topk_slots", chosen_.data());
}

}  // namespace dcpscope
