#include "cuda/tests/attention_problem.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <unordered_set>

#include "core/generate.h"
#include "core/layout.h"
#include "core/quantise.h"
#include "cuda/tests/random_data.h"

namespace dcpscope::cuda::tests {
namespace {

/** Local keys of each request, and of each query token, for global lengths. */
struct Visible {
  std::vector<int32_t> lengths;
  std::vector<int32_t> bounds;
};

Visible visible(const AttentionCase& c, const std::vector<int64_t>& globalLengths) {
  Visible result;
  for (const int64_t length : globalLengths) {
    result.lengths.push_back(int32_t(layout::localLength(length, c.rank, c.ranks, c.interleave)));
    for (int q = 0; q < c.qLen; ++q) {
      const int64_t seen = layout::visibleGlobal(length, c.qLen, q);
      result.bounds.push_back(int32_t(layout::localLength(seen, c.rank, c.ranks, c.interleave)));
    }
  }
  return result;
}

/** `count` distinct numbers below `below`, in random order. */
std::vector<int64_t> distinct(int64_t count, int64_t below, std::mt19937_64& random) {
  std::vector<int64_t> chosen;
  if (below <= 4 * count) {
    chosen.resize(size_t(below));
    std::iota(chosen.begin(), chosen.end(), int64_t(0));
    std::shuffle(chosen.begin(), chosen.end(), random);
    chosen.resize(size_t(count));
    return chosen;
  }
  std::unordered_set<int64_t> seen;
  while (int64_t(chosen.size()) < count) {
    const int64_t number = int64_t(random() % uint64_t(below));
    if (seen.insert(number).second) chosen.push_back(number);
  }
  return chosen;
}

constexpr uint16_t kNan = 0x7fc0;
constexpr uint8_t kCodeOfNan = 0xff;

template <class Value>
void place(const Value& value, uint8_t* onDevice) {
  cudaCheck(cudaMemcpy(onDevice, &value, sizeof value, cudaMemcpyHostToDevice), "placing a NaN");
}

}  // namespace

AttentionProblem::AttentionProblem(const AttentionCase& made) : case_(made) {
  Visible seen = visible(case_, case_.lengths);
  lengths_ = std::move(seen.lengths);
  bounds_ = std::move(seen.bounds);
  keys_ = bounds_;
  if (case_.kv == KvType::fp8) {
    kvScale_ = (kLargestValue + (case_.needles ? kLargestNeedle : 0.0f)) / 448.0f;
  }
  dealPages();
  if (case_.topk > 0) dealSlots();
  deviceTable_ = std::make_unique<DeviceArray<int32_t>>(table_);
  deviceTableBegin_ = std::make_unique<DeviceArray<int64_t>>(tableBegin_);
  deviceLengths_ = std::make_unique<DeviceArray<int32_t>>(lengths_);
  deviceBounds_ = std::make_unique<DeviceArray<int32_t>>(bounds_);
  deviceSlots_ = std::make_unique<DeviceArray<int32_t>>(slots_);
  fillPool();
  placeNan();
}

void AttentionProblem::dealPages() {
  std::mt19937_64 random(case_.seed);
  int64_t used = 0;
  for (const int32_t length : lengths_) used += (length + case_.pageSize - 1) / case_.pageSize;
  poolPages_ = used + used / 16 + 3;
  std::vector<int32_t> order(static_cast<size_t>(poolPages_));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);

  const std::vector<int32_t> wild{-1, INT32_MAX, INT32_MIN, int32_t(poolPages_), 0x7fc00000};
  const auto garbage = [&](uint64_t cells) {
    for (uint64_t i = 0; i < cells; ++i) {
      const size_t unused = size_t(used + int64_t(random() % uint64_t(poolPages_ - used)));
      table_.push_back(case_.wildIds ? wild[random() % wild.size()] : order[unused]);
    }
  };
  size_t next = 0;
  for (const int32_t length : lengths_) {
    garbage(random() % 3);
    tableBegin_.push_back(int64_t(table_.size()));
    for (int64_t page = 0; page * case_.pageSize < length; ++page) table_.push_back(order[next++]);
    garbage(random() % 4);
  }
  if (table_.empty()) garbage(1);
}

void AttentionProblem::dealSlots() {
  std::mt19937_64 random(case_.seed + 1000);
  std::uniform_real_distribution<double> share(0, 1);
  for (int t = 0; t < tokens(); ++t) {
    const int64_t bound = bounds_[size_t(t)];
    std::vector<int32_t> row(static_cast<size_t>(case_.topk), -1);
    const std::vector<int64_t> chosen = distinct(std::min<int64_t>(case_.topk, bound), bound, random);
    int32_t valid = 0;
    for (size_t i = 0; i < chosen.size(); ++i) {
      if (share(random) < case_.missing) continue;
      row[i] = int32_t(slotOf(t / case_.qLen, chosen[i]));
      ++valid;
    }
    std::shuffle(row.begin(), row.end(), random);
    keys_[size_t(t)] = valid;
    slots_.insert(slots_.end(), row.begin(), row.end());
  }
}

void AttentionProblem::fillPool() {
  const int dim = case_.latent + case_.rope;
  q_ = std::make_unique<DeviceArray<uint16_t>>(rows() * dim);
  fillQueries(q_->data(), rows(), dim, case_.needles, case_.seed);
  pool_ = std::make_unique<GuardedBytes>(poolPages_ * case_.pageSize * rowBytes());
  pool_->fill(0xff);
  for (size_t i = 0; i < lengths_.size() * size_t(cachedRows(case_.kvHeads)); ++i) {
    const size_t r = i / size_t(cachedRows(case_.kvHeads));
    const int part = int(i) % cachedRows(case_.kvHeads);
    fillKeys({.pool = pool_->data() + part * partBytes(),
              .tokenBytes = rowBytes(),
              .part = part,
              .pages = deviceTable_->get() + tableBegin_[r],
              .pageSize = case_.pageSize,
              .kv = case_.kv,
              .latent = case_.latent,
              .rope = case_.rope,
              .kvScale = kvScale_,
              .needles = case_.needles,
              .seed = case_.seed,
              .request = int(r)},
             lengths_[r]);
  }
}

void AttentionProblem::placeNan() {
  const int dim = case_.latent + case_.rope;
  for (const NanQuery& at : case_.nanQueries)
    place(kNan, reinterpret_cast<uint8_t*>(q_->get() + at.row * dim + at.column));
  for (const NanKey& at : case_.nanKeys) {
    uint8_t* token = pool_->data() + slotOf(at.request, at.key) * rowBytes();
    if (case_.kv == KvType::bf16)
      place(kNan, token + 2 * at.column);
    else if (case_.kv == KvType::fp8 || at.column < dsmla::kLatent)
      place(kCodeOfNan, token + at.column);
    else
      place(kNan, token + rowBytes() - 2 * (dim - at.column));
  }
}

AttentionShape AttentionProblem::shape() const {
  return {.requests = int(case_.lengths.size()),
          .qLen = case_.qLen,
          .heads = case_.heads,
          .keyDim = case_.latent + case_.rope,
          .valueDim = case_.latent,
          .kvType = case_.kv,
          .pageSize = case_.pageSize,
          .topk = case_.topk,
          .outFp32 = case_.outFp32,
          .kvHeads = case_.kvHeads,
          .portable = case_.kv != KvType::bf16 && !case_.nanKeys.empty()};
}

AttentionInputs AttentionProblem::inputs() const {
  const bool sparse = case_.topk > 0;
  return {.q = q_->data(),
          .pool = pool_->data(),
          .poolPages = poolPages_,
          .kvScale = kvScale_,
          .pageTable = deviceTable_->get(),
          .tableBegin = deviceTableBegin_->get(),
          .lengths = deviceLengths_->get(),
          .bounds = sparse ? nullptr : deviceBounds_->get(),
          .slots = sparse ? deviceSlots_->get() : nullptr,
          .softmaxScale = 1.0f / std::sqrt(192.0f),
          .base2 = case_.base2,
          .emptyRow = case_.emptyRow,
          .out = nullptr,
          .lse = nullptr,
          .stats = nullptr,
          .attendStamps = nullptr,
          .combineStamps = nullptr};
}

int64_t AttentionProblem::slotOf(int r, int64_t l) const {
  const int32_t page = table_[size_t(tableBegin_[size_t(r)] + l / case_.pageSize)];
  return layout::slot(page, l, case_.pageSize);
}

int64_t AttentionProblem::partBytes() const { return poolRowBytes(case_.kv, case_.latent + case_.rope); }

int64_t AttentionProblem::rowBytes() const { return cachedRows(case_.kvHeads) * partBytes(); }

void AttentionProblem::setLengths(const std::vector<int64_t>& lengths) {
  Visible seen = visible(case_, lengths);
  lengths_ = std::move(seen.lengths);
  bounds_ = std::move(seen.bounds);
  keys_ = bounds_;
  deviceLengths_->upload(lengths_);
  deviceBounds_->upload(bounds_);
}

void AttentionProblem::checkGuards() const {
  q_->checkGuards("queries");
  pool_->checkGuards("pool");
  deviceTable_->checkGuards("page table");
  deviceLengths_->checkGuards("lengths");
  deviceBounds_->checkGuards("bounds");
  deviceSlots_->checkGuards("slots");
}

}  // namespace dcpscope::cuda::tests
