#include "cpu/check.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/bf16.h"
#include "core/layout.h"
#include "cpu/rank.h"

namespace dcpscope {
namespace {

constexpr double kLn2 = 0.693147180559945309417;
constexpr double kLog2E = 1.44269504088896340736;
/** Units that are computed at once, and ranges of keys that one unit is cut into at most. */
constexpr int kWave = 32;
constexpr int kParts = 8;
constexpr int64_t kLeastPartKeys = 256;
/** Cost in multiply-adds of the fp32 kernel: of one fp64 multiply-add, and of making one value of a key. */
constexpr double kDoubleCost = 2;
constexpr double kGenerateCost = 28;
/** Share of a step's counted work that the check may use, so that the estimate errs on the cheap side. */
constexpr double kShare = 0.5;
/** Most multiply-adds that a captured reference may take. */
constexpr double kReferenceLimit = 2e11;

int parts(int64_t keys) { return static_cast<int>(std::clamp<int64_t>(keys / kLeastPartKeys, 1, kParts)); }

int64_t coprimeStride(int64_t total) {
  auto stride = static_cast<int64_t>(static_cast<double>(total) * 0.618);
  while (stride < 1 || std::gcd(stride, total) != 1) ++stride;
  return stride;
}

}  // namespace

Checker::Checker(Shared& shared, Pool& pool)
    : shared_(shared),
      pool_(pool),
      groups_(groupsOf(kReferenceHeads)),
      wave_(kWave),
      partials_(kWave * kParts),
      nanCounts_(static_cast<int64_t>(shared.config.layers) * shared.config.ranks),
      acc_(static_cast<int64_t>(kWave) * kParts * kReferenceHeads * shared.shape.valueDim) {
  for (int i = 0; i < kWave * kParts; ++i)
    partials_[static_cast<size_t>(i)].acc = acc(i / kParts, i % kParts);
  for (int i = 0; i < pool.threads(); ++i) scratch_.emplace_back(referenceScratch(shared.shape.keyDim));
}

int64_t Checker::bytes(const Config& config, const Shape& shape, int threads) {
  const int64_t counts = static_cast<int64_t>(config.layers) * config.ranks * 8;
  const int64_t acc = static_cast<int64_t>(kWave) * kParts *
                      (kReferenceHeads * shape.valueDim * 8 + static_cast<int64_t>(sizeof(ReferencePartial)));
  return counts + acc + threads * referenceScratch(shape.keyDim) * 8;
}

double* Checker::acc(int slot, int part) {
  return acc_.data() +
         (static_cast<int64_t>(slot) * kParts + part) * kReferenceHeads * shared_.shape.valueDim;
}

int64_t Checker::visible(int token) const {
  const int n = shared_.config.qLen;
  return layout::visibleGlobal(shared_.frame.after[token / n], n, token % n);
}

int Checker::groupsOf(int heads) const { return (shared_.config.heads + heads - 1) / heads; }

int Checker::headsIn(int group) const { return (shared_.config.heads - group + groups_ - 1) / groups_; }

double Checker::unitCost(int token) const {
  const Shape& s = shared_.shape;
  const double heads = static_cast<double>(shared_.config.heads) / groups_;
  const double perKey = kGenerateCost * s.keyDim + kDoubleCost * heads * (s.keyDim + s.valueDim);
  return static_cast<double>(visible(token)) * perKey + kGenerateCost * heads * s.keyDim;
}

double Checker::largestUnitCost() const {
  double most = 0;
  for (int t = 0; t < shared_.shape.tokens; ++t) most = std::max(most, unitCost(t));
  return most;
}

double Checker::stepCost() const {
  const Shape& s = shared_.shape;
  double keys = 0;
  for (int t = 0; t < s.tokens; ++t) keys += static_cast<double>(visible(t));
  return keys * shared_.config.layers * shared_.config.heads * (s.keyDim + s.valueDim);
}

int64_t Checker::unitsWanted() {
  const Config& c = shared_.config;
  const int64_t rows = static_cast<int64_t>(c.layers) * shared_.shape.tokens;
  groups_ = groupsOf(kReferenceHeads);
  if (c.checkRows == kCheckAll) return rows * groups_;
  if (c.checkRows != kCheckAuto) return std::min<int64_t>(c.checkRows, rows) * groups_;
  while (groups_ < c.heads && largestUnitCost() > kShare * stepCost())
    groups_ = std::min(2 * groups_, c.heads);
  const int64_t units = unitsAffordable(rows * groups_);
  const bool last = shared_.frame.step == c.steps - 1;
  return units == 0 && last ? 1 : units;
}

int64_t Checker::unitsAffordable(int64_t all) {
  budget_ += kShare * stepCost();
  int64_t units = 0;
  while (units < all) {
    const double cost = unitCost(unitAt(units, false).token);
    if (cost > budget_) return units;
    budget_ -= cost;
    ++units;
  }
  // Nothing is left to spend it on, and a hoard would make a later check cost more than its step.
  budget_ = 0;
  return units;
}

/** A walk through all units that meets each once, from a start that the step decides. */
Checker::Unit Checker::unitAt(int64_t index, bool wholeRows) const {
  const Config& c = shared_.config;
  const int64_t rows = static_cast<int64_t>(c.layers) * shared_.shape.tokens;
  const int64_t inner = wholeRows ? groups_ : 1;
  const int64_t total = wholeRows ? rows : rows * groups_;
  const uint64_t hash =
      mix64(streamHash(c.seed, Stream::check, 0, 0) ^ static_cast<uint64_t>(shared_.frame.step));
  const auto start = static_cast<int64_t>(hash % static_cast<uint64_t>(total));
  // The product can pass 64 bits where everything is checked of a very large run.
  const auto walked = static_cast<__int128>(index / inner % total) * coprimeStride(total);
  const auto at = static_cast<int64_t>((start + walked) % total);
  const auto group = static_cast<int>(wholeRows ? index % inner : at / rows);
  return {static_cast<int>(at % c.layers), static_cast<int>(at / c.layers % shared_.shape.tokens), group};
}

CheckResult Checker::check() {
  CheckResult result;
  const bool wholeRows = shared_.config.checkRows != kCheckAuto;
  const int64_t wanted = shared_.config.checkRows == 0 ? 0 : unitsWanted();
  for (int64_t first = 0; first < wanted && !shared_.cancelled(); first += kWave) {
    const auto count = static_cast<int>(std::min<int64_t>(kWave, wanted - first));
    for (int i = 0; i < count; ++i) wave_[static_cast<size_t>(i)] = unitAt(first + i, wholeRows);
    computeWave(wave_.data(), count);
    if (shared_.cancelled()) break;
    for (int i = 0; i < count; ++i) compare(i, wave_[static_cast<size_t>(i)], result);
  }
  return result;
}

void Checker::computeWave(const Unit* units, int count) {
  pool_.forEach(static_cast<int64_t>(count) * kParts,
                [&](int thread, int64_t item) { computePart(item, units, thread); });
  pool_.forEach(count, [&](int, int64_t slot) { combineUnit(static_cast<int>(slot), units[slot]); });
}

void Checker::computePart(int64_t item, const Unit* units, int thread) {
  const Unit& unit = units[item / kParts];
  const int part = static_cast<int>(item % kParts);
  const int64_t keys = visible(unit.token);
  if (part >= parts(keys) || shared_.cancelled()) return;
  const Config& c = shared_.config;
  const int request = unit.token / c.qLen;
  ReferenceTask task{};
  task.source = sourceOf(c, unit.layer, request);
  task.generate = &shared_.code.generate;
  task.bf16 = shared_.bf16();
  task.queryPosition = shared_.frame.before[request] + unit.token % c.qLen;
  task.firstHead = unit.group;
  task.headStride = groups_;
  task.heads = headsIn(unit.group);
  task.keyDim = shared_.shape.keyDim;
  task.valueDim = shared_.shape.valueDim;
  task.scale2 = c.softmaxScale * kLog2E;
  task.keyBegin = keys * part / parts(keys);
  task.keyEnd = keys * (part + 1) / parts(keys);
  task.cancel = &shared_.cancel;
  shared_.code.reference.attend(task, scratch_[static_cast<size_t>(thread)].data(),
                                partials_[static_cast<size_t>(item)]);
}

/** Leaves the normalised output in the first part's acc and the base-2 lse in its top. */
void Checker::combineUnit(int slot, const Unit& unit) {
  const int count = parts(visible(unit.token));
  const int V = shared_.shape.valueDim;
  ReferencePartial* part = &partials_[static_cast<size_t>(slot) * kParts];
  for (int h = 0; h < headsIn(unit.group); ++h) {
    double top = -std::numeric_limits<double>::infinity();
    for (int p = 0; p < count; ++p) top = std::max(top, part[p].top[h]);
    double* to = part[0].acc + static_cast<int64_t>(h) * V;
    if (top == -std::numeric_limits<double>::infinity()) continue;
    double total = 0;
    for (int p = 0; p < count; ++p) {
      const double weight = std::exp2(part[p].top[h] - top);
      total += weight * part[p].total[h];
      const double* from = part[p].acc + static_cast<int64_t>(h) * V;
      for (int v = 0; v < V; ++v) to[v] = (p == 0 ? 0 : to[v]) + weight * from[v];
    }
    for (int v = 0; v < V; ++v) to[v] /= total;
    part[0].top[h] = top + std::log2(total);
  }
}

void Checker::compare(int slot, const Unit& unit, CheckResult& result) const {
  const Shape& s = shared_.shape;
  const ReferencePartial& truth = partials_[static_cast<size_t>(slot) * kParts];
  for (int h = 0; h < headsIn(unit.group); ++h) {
    const int head = unit.group + h * groups_;
    Rank& rank = *shared_.ranks[static_cast<size_t>(head / s.headsPerRank)];
    const int64_t row = static_cast<int64_t>(unit.token) * s.headsPerRank + head % s.headsPerRank;
    const unsigned char* merged = rank.merged(unit.layer) + row * s.valueDim * s.valueBytes;
    double error = 0;
    double norm = 0;
    double worst = 0;
    for (int v = 0; v < s.valueDim; ++v) {
      const double got = shared_.bf16() ? fromBf16(reinterpret_cast<const uint16_t*>(merged)[v])
                                        : reinterpret_cast<const float*>(merged)[v];
      const double want = truth.acc[static_cast<int64_t>(h) * s.valueDim + v];
      const double off = std::abs(got - want);
      error += off * off;
      norm += want * want;
      // A NaN must win against any number.
      if (!(off <= worst)) worst = off;
    }
    const double infinity = std::numeric_limits<double>::infinity();
    const double relative = norm > 0 ? std::sqrt(error / norm) : error == 0 ? 0 : infinity;
    if (!(worst <= result.maxAbs)) result.maxAbs = std::isnan(worst) ? infinity : worst;
    if (!(relative <= result.maxRel) || result.token < 0) {
      result.maxRel = std::isnan(relative) ? infinity : relative;
      result.layer = unit.layer;
      result.token = unit.token;
      result.head = head;
    }
    ++result.checked;
  }
}

MergedNan Checker::findNan() {
  const Config& c = shared_.config;
  const Shape& s = shared_.shape;
  const int n = s.headsPerRank * s.valueDim;
  const auto nanIn = [&](int layer, int rank, int token) {
    RowStats stats;
    const unsigned char* row = shared_.ranks[static_cast<size_t>(rank)]->merged(layer) +
                               static_cast<int64_t>(token) * n * s.valueBytes;
    shared_.code.rows.stats(row, shared_.bf16(), n, stats);
    return stats.nan;
  };
  pool_.forEach(nanCounts_.size(), [&](int, int64_t item) {
    nanCounts_[item] = 0;
    for (int t = 0; t < s.tokens && !shared_.cancelled(); ++t)
      nanCounts_[item] += nanIn(static_cast<int>(item / c.ranks), static_cast<int>(item % c.ranks), t);
  });
  MergedNan found;
  for (int64_t item = 0; item < nanCounts_.size(); ++item) {
    if (found.count == 0 && nanCounts_[item] > 0) {
      found.layer = static_cast<int32_t>(item / c.ranks);
      found.rank = static_cast<int32_t>(item % c.ranks);
      found.token = 0;
      while (nanIn(found.layer, found.rank, found.token) == 0) ++found.token;
    }
    found.count += nanCounts_[item];
  }
  return found;
}

int Checker::reference(int layer, Tensor& out, Tensor& lse) {
  const Config& c = shared_.config;
  const Shape& s = shared_.shape;
  auto* outTo = reinterpret_cast<double*>(out.data.data());
  auto* lseTo = reinterpret_cast<double*>(lse.data.data());
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  std::fill_n(outTo, static_cast<int64_t>(s.tokens) * c.heads * s.valueDim, none);
  std::fill_n(lseTo, static_cast<int64_t>(s.tokens) * c.heads, none);
  groups_ = groupsOf(kReferenceHeads);
  double spent = 0;
  int affordable = 0;
  for (; affordable < s.tokens; ++affordable) {
    spent += static_cast<double>(visible(affordable)) * c.heads * (s.keyDim + s.valueDim);
    if (spent > kReferenceLimit) break;
  }
  const int units = affordable * groups_;
  for (int first = 0; first < units && !shared_.cancelled(); first += kWave) {
    const int count = std::min(kWave, units - first);
    for (int i = 0; i < count; ++i)
      wave_[static_cast<size_t>(i)] = {layer, (first + i) / groups_, (first + i) % groups_};
    computeWave(wave_.data(), count);
    for (int i = 0; i < count; ++i) storeReference(i, wave_[static_cast<size_t>(i)], outTo, lseTo);
  }
  return affordable;
}

void Checker::storeReference(int slot, const Unit& unit, double* out, double* lse) const {
  const int V = shared_.shape.valueDim;
  const ReferencePartial& truth = partials_[static_cast<size_t>(slot) * kParts];
  for (int h = 0; h < headsIn(unit.group); ++h) {
    const int64_t row = static_cast<int64_t>(unit.token) * shared_.config.heads + unit.group + h * groups_;
    std::copy_n(truth.acc + static_cast<int64_t>(h) * V, V, out + row * V);
    lse[row] = truth.top[h] * (shared_.config.base2 ? 1 : kLn2);
  }
}

}  // namespace dcpscope
