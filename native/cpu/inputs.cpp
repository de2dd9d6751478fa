#include "cpu/inputs.h"

#include "core/topk.h"

namespace dcpscope {

Inputs::Inputs(const Config& config, const Shape& shape, HeadRange heads, unsigned char* queries)
    : config_(config),
      shape_(shape),
      heads_(heads),
      queryBytes_(static_cast<int64_t>(shape.tokens) * heads.count * shape.keyDim * shape.valueBytes),
      keyBytes_(static_cast<int64_t>(shape.tokens) * shape.cacheParts * shape.keyDim * shape.valueBytes),
      topkValues_(static_cast<int64_t>(shape.tokens) * config.topk),
      queries_(queries == nullptr ? allLayers(config) * queryBytes_ : 0),
      queriesAt_(queries == nullptr ? queries_.data() : queries),
      keys_(allLayers(config) * keyBytes_),
      topk_(allLayers(config) * topkValues_) {}

void Inputs::make(Pool& pool, const int64_t* contexts) {
  pool.forEach(static_cast<int64_t>(allLayers(config_)) * shape_.tokens, [&](int, int64_t item) {
    const auto layer = static_cast<int>(item / shape_.tokens);
    const auto token = static_cast<int>(item % shape_.tokens);
    makeToken(layer, token, contexts[token / config_.qLen] + token % config_.qLen);
  });
}

void Inputs::makeToken(int layer, int token, int64_t position) {
  const Source source = sourceOf(config_, layer, token / config_.qLen);
  const int64_t row = static_cast<int64_t>(shape_.keyDim) * shape_.valueBytes;
  unsigned char* keys = keys_.data() + layer * keyBytes_ + token * shape_.cacheParts * row;
  for (int part = 0; part < shape_.cacheParts; ++part)
    generateRow(config_, cachedRow(source, position, part, config_.kvHeads), shape_.keyDim,
                keys + part * row);
  unsigned char* query = queriesAt_ + layer * queryBytes_ + static_cast<int64_t>(token) * heads_.count * row;
  for (int h = 0; h < heads_.count; ++h)
    generateRow(config_, queryRow(source, position, heads_.first + h), shape_.keyDim, query + h * row);
  if (config_.topk == 0) return;
  const TopkRow chosen =
      topkRow(config_.seed, layer, token / config_.qLen, position, position + 1, config_.topk, source);
  int32_t* ids = topk_.data() + layer * topkValues_ + static_cast<int64_t>(token) * config_.topk;
  // A row that only pads chooses nothing.
  const bool pads = token >= shape_.batchTokens;
  for (int j = 0; j < config_.topk; ++j) ids[j] = pads ? -1 : topkId(chosen, j);
}

int64_t Inputs::bytes(const Config& config, const Shape& shape, HeadRange heads) {
  const int64_t values = static_cast<int64_t>(heads.count + shape.cacheParts) * shape.keyDim;
  return static_cast<int64_t>(allLayers(config)) * shape.tokens *
         (values * shape.valueBytes + static_cast<int64_t>(config.topk) * 4);
}

}  // namespace dcpscope
