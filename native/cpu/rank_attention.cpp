#include <algorithm>
#include <cmath>
#include <limits>

#include "core/fault_rules.h"
#include "core/stale.h"
#include "cpu/rank.h"

namespace dcpscope {
namespace {

constexpr double kLn2 = 0.693147180559945309417;
constexpr double kLog2E = 1.44269504088896340736;

}  // namespace

void Rank::attend(int layer, ThreadScratch& scratch) {
  const int64_t begun = begin(layer, Stage::decodeAttn);
  nextUnit_.store(0, std::memory_order_relaxed);
  team_.wait();
  attendUnits(layer, scratch);
  team_.wait();
  Work work;
  int64_t seen = 0;
  int64_t read = 0;
  for (int t = 0; t < shape_.tokens; ++t) seen += visible_[t];
  for (int r = 0; r < shape_.requests; ++r) read += metadata(layer).localLength(r);
  // Query tokens share the keys of their request, but not those that each of them chose.
  work.bytes = (config_.topk > 0 ? seen : read) * shape_.cacheRowBytes;
  work.flops = 2 * static_cast<int64_t>(config_.heads) * (shape_.keyDim + shape_.valueDim) * seen;
  span(layer, Stage::decodeAttn, begun, work);
  if (shared_.plan.maxSplits == 1) return;
  const int64_t then = begin(layer, Stage::splitCombine);
  combine(layer);
  span(layer, Stage::splitCombine, then, {shared_.plan.splitRows(shape_) * shape_.valueDim * 4, 0});
}

void Rank::attendUnits(int layer, ThreadScratch& scratch) {
  const int64_t units =
      static_cast<int64_t>(shape_.requests) * shared_.plan.rowBlocks * shared_.plan.maxSplits;
  for (int64_t u = nextUnit_.fetch_add(1); u < units && !shared_.cancelled(); u = nextUnit_.fetch_add(1))
    attendUnit(layer, u, scratch);
}

int Rank::kvHeadOf(int layer, int head) const {
  if (config_.kvHeads == 0) return 0;
  return head / headsTogether(shared_.state, rank_, layer) % config_.kvHeads;
}

void Rank::attendUnit(int layer, int64_t unit, ThreadScratch& scratch) {
  const AttentionPlan& plan = shared_.plan;
  const auto split = static_cast<int>(unit % plan.maxSplits);
  const auto block = static_cast<int>(unit / plan.maxSplits % plan.rowBlocks);
  const auto request = static_cast<int>(unit / plan.maxSplits / plan.rowBlocks);
  const Metadata& handed = metadata(layer);
  const int64_t keys = plan.keys(handed.keys(request));
  if (split >= plan.splits(keys)) return;
  const int firstRow = plan.firstRow(block);
  const int count = plan.rows(block);
  const int64_t row = static_cast<int64_t>(request) * shape_.rowsPerRequest + firstRow;
  AttentionTask task{};
  task.q = queries_ + row * shape_.keyDim * shape_.valueBytes;
  task.rows = count;
  task.bounds = &bounds_[row];
  task.pool = pool(layer) + kvHeadOf(layer, firstRow % config_.heads) * shape_.partBytes();
  task.valueAt = config_.kvHeads * shape_.partBytes();
  task.rowBytes = fault(FaultKind::kvLayoutMismatch, layer) == nullptr ? shape_.cacheRowBytes
                                                                       : otherRowBytes(shape_.cacheRowBytes);
  task.pages = handed.pages(request);
  task.pageSize = config_.pageSize;
  task.keyDim = shape_.keyDim;
  task.valueDim = shape_.valueDim;
  task.kvType = config_.kvType;
  task.scale2 = static_cast<float>(config_.softmaxScale * kvScale(config_) * kLog2E);
  if (config_.topk > 0) task.slots = &chosen_[row / config_.heads * config_.topk];
  const int64_t last = config_.topk > 0 ? keys : task.bounds[count - 1];
  task.keyBegin = split * plan.splitKeys(keys);
  task.keyEnd = std::min(last, task.keyBegin + plan.splitKeys(keys));
  task.cancel = &shared_.state.cancel;
  if (plan.maxSplits == 1) {
    const AttentionPartial partial{scratch.acc.data(), scratch.top.data(), scratch.total.data()};
    shared_.code.attention.attend(task, scratch.attention.data(), partial);
    for (int r = 0; r < count; ++r)
      finish(row + r, partial.acc + r * shape_.valueDim, partial.top[r], partial.total[r]);
    return;
  }
  const int64_t at =
      (static_cast<int64_t>(request) * plan.maxSplits + split) * shape_.rowsPerRequest + firstRow;
  const AttentionPartial partial{&splitAcc_[at * shape_.valueDim], &splitTop_[at], &splitTotal_[at]};
  shared_.code.attention.attend(task, scratch.attention.data(), partial);
}

void Rank::finish(int64_t row, const float* acc, float top, float total) {
  if (total == 0) return writeEmpty(row);
  shared_.code.rows.scale(acc, false, kvScale(config_) / total, kernel_.out(row), shared_.bf16(),
                          shape_.valueDim);
  writeLse(row, top, total);
}

void Rank::writeLse(int64_t row, float top, float total) {
  const double base2 = static_cast<double>(top) + std::log2(static_cast<double>(total));
  kernel_.putLse(row, static_cast<float>(config_.base2 ? base2 : base2 * kLn2));
}

/** What a kernel that stops at the batch leaves behind it. */
void Rank::spoilPadding() {
  for (int64_t row = int64_t{shape_.batchTokens} * config_.heads;
       row < int64_t{shape_.tokens} * config_.heads; ++row) {
    fillRow(kernel_.out(row), shared_.bf16(), std::numeric_limits<float>::quiet_NaN(), shape_.valueDim);
    kernel_.putLse(row, kStaleLse);
  }
}

void Rank::writeEmpty(int64_t row) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  constexpr float notANumber = std::numeric_limits<float>::quiet_NaN();
  struct Left {
    float out;
    float lse;
  };
  const Left left = config_.emptyRow == EmptyRow::neutral     ? Left{0, -inf}
                    : config_.emptyRow == EmptyRow::unwritten ? Left{kStaleOut, kStaleLse}
                    : config_.emptyRow == EmptyRow::plusInf   ? Left{0, inf}
                                                              : Left{notANumber, -inf};
  fillRow(kernel_.out(row), shared_.bf16(), left.out, shape_.valueDim);
  kernel_.putLse(row, left.lse);
}

void Rank::combine(int layer) {
  const int64_t counted = countedRows(shared_.state, rank_, layer);
  for (int r = 0; r < shape_.requests && !shared_.cancelled(); ++r) {
    const int splits = shared_.plan.splits(shared_.plan.keys(metadata(layer).keys(r)));
    for (int row = 0; row < shape_.rowsPerRequest; ++row)
      combineRow(r, row, int64_t{r} * shape_.rowsPerRequest + row < counted ? splits : 1);
  }
}

void Rank::combineRow(int request, int row, int splits) {
  const float* parts[kUnitsWanted];
  float weights[kUnitsWanted];
  const int64_t first = static_cast<int64_t>(request) * shared_.plan.maxSplits * shape_.rowsPerRequest + row;
  float top = -std::numeric_limits<float>::infinity();
  for (int s = 0; s < splits; ++s) top = std::fmax(top, splitTop_[first + s * shape_.rowsPerRequest]);
  double total = 0;
  for (int s = 0; s < splits; ++s) {
    const int64_t at = first + static_cast<int64_t>(s) * shape_.rowsPerRequest;
    parts[s] = &splitAcc_[at * shape_.valueDim];
    const bool none = splitTotal_[at] == 0;
    weights[s] = none ? 0.0F : static_cast<float>(std::exp2(static_cast<double>(splitTop_[at]) - top));
    total += static_cast<double>(weights[s]) * splitTotal_[at];
  }
  const int64_t out = static_cast<int64_t>(request) * shape_.rowsPerRequest + row;
  if (total == 0) return writeEmpty(out);
  for (int s = 0; s < splits; ++s) weights[s] = static_cast<float>(weights[s] * kvScale(config_) / total);
  const void* rowsOf[kUnitsWanted];
  std::copy_n(parts, splits, rowsOf);
  shared_.code.rows.merge({rowsOf, weights, splits, false}, kernel_.out(out), shared_.bf16(),
                          shape_.valueDim);
  writeLse(out, top, static_cast<float>(total));
}

}  // namespace dcpscope
