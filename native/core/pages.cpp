#include "core/pages.h"

#include <algorithm>
#include <utility>

#include "core/hash.h"

namespace dcpscope {

PageTable::PageTable(const Config& config, const Shape& shape, PoolOf pool)
    : poolPages_(shape.poolPages),
      begin_(shape.requests + 1),
      taken_(shape.requests),
      ids_(std::max<int64_t>(shape.cells(), 1)),
      order_(config.shuffledPages || pool == PoolOf::draft ? shape.poolPages : 0) {
  std::copy(shape.cellBegin.begin(), shape.cellBegin.end(), begin_.data());
  std::fill_n(ids_.data(), ids_.size(), -1);
  const bool backwards = pool == PoolOf::draft;
  for (int64_t i = 0; i < order_.size(); ++i)
    order_[i] = static_cast<int32_t>(backwards ? order_.size() - 1 - i : i);
  if (!config.shuffledPages) return;
  const uint64_t hash = streamHash(config.seed, Stream::pages, static_cast<uint64_t>(pool), 0);
  for (int64_t i = order_.size() - 1; i > 0; --i) {
    const auto other =
        static_cast<int64_t>(mix64(hash ^ static_cast<uint64_t>(i)) % static_cast<uint64_t>(i + 1));
    std::swap(order_[i], order_[other]);
  }
}

bool PageTable::extend(int request, int64_t columns) {
  while (taken_[request] < columns) {
    if (next_ == poolPages_) return false;
    ids_[begin(request) + taken_[request]] = order_.size() > 0 ? order_[next_] : static_cast<int32_t>(next_);
    ++next_;
    ++taken_[request];
  }
  return true;
}

int64_t PageTable::bytes(const Shape& shape) {
  return shape.cells() * 4 + shape.poolPages * 4 + static_cast<int64_t>(shape.requests) * 16;
}

}  // namespace dcpscope
