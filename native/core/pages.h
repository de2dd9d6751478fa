#pragma once
#include <cstdint>

#include "core/block.h"
#include "core/config.h"

namespace dcpscope {

/** Whose pages a table hands out: they lie in pools of their own. */
enum class PoolOf { model, draft };

/**
 * The block table that all ranks and layers of a pool share: a page holds one virtual page's part on every
 * rank, so the ids agree and only the tokens on it differ. Requests' rows lie behind each other without gaps.
 */
class PageTable {
 public:
  /** Pages leave the pool of a draft in another order than that of the model. */
  PageTable(const Config& config, const Shape& shape, PoolOf pool = PoolOf::model);

  /** Takes pages until the request has `columns`; false when the pool ran out, what was taken stays. */
  bool extend(int request, int64_t columns);

  /** Page ids by column; -1 beyond columns(request). */
  const int32_t* row(int request) const { return &ids_[begin(request)]; }
  int64_t columns(int request) const { return taken_[request]; }
  int64_t pagesTaken() const { return next_; }

  /** Bytes that a table takes. */
  static int64_t bytes(const Shape& shape);

 private:
  int64_t begin(int request) const { return begin_[request]; }

  int64_t poolPages_;
  int64_t next_ = 0;
  Block<int64_t> begin_;
  Block<int64_t> taken_;
  Block<int32_t> ids_;
  /** Order in which pages leave the pool; empty when it is 0, 1, 2, .... For a draft it begins at the last
   * one.
   */
  Block<int32_t> order_;
};

}  // namespace dcpscope
