#include "cpu/check.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/bf16.h"
#include "core/layout.h"
#include "cpu/inputs.h"
#include "cpu/kernels.h"

namespace dcpscope {
namespace {

constexpr double kLn2 = 0.693147180559945309417;
constexpr double kLog2E = 1.44269504088896340736;
/** Units that are computed at once, and ranges of keys that one unit is cut into at most. */
constexpr int kWave = 32;
constexpr int kParts = 8;
constexpr int64_t kLeastPartKeys = 256;
/** Cost in multiply-adds of the fp32 kernel: of one fp64 multiply-add, of making one value of a key, and of
 * quantising it as an fp8 cache does. */
constexpr double kDoubleCost = 2;
constexpr double kGenerateCost = 28;
constexpr double kQuantiseCost = 40;
/**
 * A GPU as the check reckons with it: its memory, its multiply-adds a second, what its kernels take at least;
 * and multiply-adds a second of the cores beside it.
 */
constexpr double kGpuBytesPerSecond = 4e12;
constexpr double kGpuRate = 4e14;
constexpr double kKernelSeconds = 4e-6;
constexpr double kKernelsPerLayer = 8;
constexpr double kHostRate = 1e11;
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

Checker::Checker(const RunState& state, Pool& pool)
    : state_(state),
      pool_(pool),
      groups_(groupsOf(kReferenceHeads)),
      wave_(kWave),
      partials_(kWave * kParts),
      refused_(state.config.draft ? state.shape.batchTokens : 0),
      acc_(static_cast<int64_t>(kWave) * kParts * kReferenceHeads * state.shape.valueDim) {
  for (int i = 0; i < kWave * kParts; ++i)
    partials_[static_cast<size_t>(i)].acc = acc(i / kParts, i % kParts);
  for (int i = 0; i < pool.threads(); ++i) scratch_.emplace_back(referenceScratch(state.shape.keyDim));
}

int64_t Checker::bytes(const Shape& shape, int threads) {
  const int64_t acc = static_cast<int64_t>(kWave) * kParts *
                      (kReferenceHeads * shape.valueDim * 8 + static_cast<int64_t>(sizeof(ReferencePartial)));
  return acc + threads * referenceScratch(shape.keyDim) * 8;
}

double* Checker::acc(int slot, int part) {
  return acc_.data() + (static_cast<int64_t>(slot) * kParts + part) * kReferenceHeads * state_.shape.valueDim;
}

int64_t Checker::visible(int token) const {
  const int n = state_.config.qLen;
  return layout::visibleGlobal(state_.frame.after[token / n], n, token % n);
}

int Checker::groupsOf(int heads) const { return (state_.config.heads + heads - 1) / heads; }

int Checker::headsIn(int group) const { return (state_.config.heads - group + groups_ - 1) / groups_; }

int64_t Checker::entries(int token) const {
  return state_.config.topk > 0 ? state_.config.topk : visible(token);
}

int64_t Checker::keys(int token) const { return std::min(entries(token), visible(token)); }

double Checker::unitCost(int token) const {
  const Shape& s = state_.shape;
  const double heads = static_cast<double>(state_.config.heads) / groups_;
  const bool quantised = state_.config.kvType == KvType::fp8 || state_.config.kvType == KvType::fp8DsMla;
  const double value = kGenerateCost + (quantised ? kQuantiseCost : 0);
  // A unit has heads of all KV heads, unless it has fewer heads than there are of these.
  const double rows = s.cacheParts > 1 ? std::min<double>(s.cacheParts, 2 * heads) : 1;
  const double perKey = value * rows * s.keyDim + kDoubleCost * heads * (s.keyDim + s.valueDim);
  return static_cast<double>(keys(token)) * perKey + kGenerateCost * heads * s.keyDim;
}

double Checker::largestUnitCost() const {
  double most = 0;
  for (int t = 0; t < state_.shape.tokens; ++t) most = std::max(most, unitCost(t));
  return most;
}

double Checker::stepCost() const {
  const Shape& s = state_.shape;
  double total = 0;
  for (int t = 0; t < s.tokens; ++t) total += static_cast<double>(keys(t));
  const double onCpu = total * state_.config.layers * state_.config.heads * (s.keyDim + s.valueDim);
  return state_.config.cuda ? gpuStepCost(total, onCpu) : onCpu;
}

/** What the cores beside a GPU compute while it does a step. */
double Checker::gpuStepCost(double keys, double multiplyAdds) const {
  const Config& c = state_.config;
  const double bytes = keys / c.qLen * c.layers * state_.shape.cacheRowBytes;
  const double busy = std::max(bytes / kGpuBytesPerSecond, multiplyAdds / kGpuRate) +
                      kKernelSeconds * kKernelsPerLayer * c.layers * c.ranks;
  // Ranks with processes of their own work at the same time.
  return kHostRate * busy / (c.processes ? c.ranks : 1);
}

int64_t Checker::unitsWanted() {
  const Config& c = state_.config;
  const int64_t rows = static_cast<int64_t>(c.layers) * state_.shape.batchTokens;
  groups_ = groupsOf(kReferenceHeads);
  if (c.checkRows == kCheckAll) return rows * groups_;
  if (c.checkRows != kCheckAuto) return std::min<int64_t>(c.checkRows, rows) * groups_;
  while (groups_ < c.heads && largestUnitCost() > kShare * stepCost())
    groups_ = std::min(2 * groups_, c.heads);
  const int64_t units = unitsAffordable(rows * groups_);
  const bool last = state_.frame.step == c.steps - 1;
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
  const Config& c = state_.config;
  const int64_t rows = static_cast<int64_t>(c.layers) * state_.shape.batchTokens;
  const int64_t inner = wholeRows ? groups_ : 1;
  const int64_t total = wholeRows ? rows : rows * groups_;
  const uint64_t hash =
      mix64(streamHash(c.seed, Stream::check, 0, 0) ^ static_cast<uint64_t>(state_.frame.step));
  const auto start = static_cast<int64_t>(hash % static_cast<uint64_t>(total));
  // The product can pass 64 bits where everything is checked of a very large run.
  const auto walked = static_cast<__int128>(index / inner % total) * coprimeStride(total);
  const auto at = static_cast<int64_t>((start + walked) % total);
  const auto group = static_cast<int>(wholeRows ? index % inner : at / rows);
  return {static_cast<int>(at % c.layers), static_cast<int>(at / c.layers % state_.shape.batchTokens), group};
}

CheckResult Checker::check(Group& group) {
  CheckResult result;
  const bool wholeRows = state_.config.checkRows != kCheckAuto;
  const int64_t wanted = state_.config.checkRows == 0 ? 0 : unitsWanted();
  for (int64_t first = 0; first < wanted && !state_.cancelled(); first += kWave) {
    const auto count = static_cast<int>(std::min<int64_t>(kWave, wanted - first));
    for (int i = 0; i < count; ++i) wave_[static_cast<size_t>(i)] = unitAt(first + i, wholeRows);
    computeWave(wave_.data(), count);
    if (state_.cancelled()) break;
    for (int i = 0; i < count; ++i) compare(i, wave_[static_cast<size_t>(i)], group, result);
  }
  if (state_.config.draft && state_.config.checkRows != 0) judgeDraft(group, result);
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
  const int64_t keys = entries(unit.token);
  if (part >= parts(keys) || state_.cancelled()) return;
  const Config& c = state_.config;
  const int request = unit.token / c.qLen;
  ReferenceTask task{};
  task.source = sourceOf(c, unit.layer, request);
  task.generate = &kernels().generate;
  task.kvType = c.kvType;
  task.kvScale = kvScale(c);
  task.queryPosition = state_.frame.before[request] + unit.token % c.qLen;
  task.firstHead = unit.group;
  task.headStride = groups_;
  task.heads = headsIn(unit.group);
  task.keyDim = state_.shape.keyDim;
  task.valueDim = state_.shape.valueDim;
  task.kvHeads = c.kvHeads;
  task.groupHeads = state_.shape.groupHeads;
  task.scale2 = c.softmaxScale * kLog2E;
  const TopkRow chosen = topkRow(c.seed, unit.layer, request, task.queryPosition, visible(unit.token),
                                 std::max(c.topk, 1), task.source);
  if (c.topk > 0) task.topk = &chosen;
  task.keyBegin = keys * part / parts(keys);
  task.keyEnd = keys * (part + 1) / parts(keys);
  task.cancel = &state_.cancel;
  kernels().reference.attend(task, scratch_[static_cast<size_t>(thread)].data(),
                             partials_[static_cast<size_t>(item)]);
}

/** Leaves the normalised output in the first part's acc and the base-2 lse in its top. */
void Checker::combineUnit(int slot, const Unit& unit) {
  const int count = parts(entries(unit.token));
  const int V = state_.shape.valueDim;
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

Checker::Error Checker::errorOf(int slot, const Unit& unit, int h, Group& group) const {
  const Shape& s = state_.shape;
  const ReferencePartial& truth = partials_[static_cast<size_t>(slot) * kParts];
  const int head = unit.group + h * groups_;
  const unsigned char* merged = group.merged(unit.layer, head / s.headsPerRank, unit.token) +
                                static_cast<int64_t>(head % s.headsPerRank) * s.valueDim * s.valueBytes;
  double error = 0;
  double norm = 0;
  double worst = 0;
  for (int v = 0; v < s.valueDim; ++v) {
    const double got = s.valueBytes == 2 ? fromBf16(reinterpret_cast<const uint16_t*>(merged)[v])
                                         : reinterpret_cast<const float*>(merged)[v];
    const double want = truth.acc[static_cast<int64_t>(h) * s.valueDim + v];
    const double off = std::abs(got - want);
    error += off * off;
    norm += want * want;
    // A NaN must win against any number.
    if (!(off <= worst)) worst = off;
  }
  const double infinity = std::numeric_limits<double>::infinity();
  return {worst, norm > 0 ? std::sqrt(error / norm) : error == 0 ? 0 : infinity};
}

/** Whether the draft's output is what it should be decides on a token. */
void Checker::judgeDraft(Group& group, CheckResult& result) {
  const Config& c = state_.config;
  const int tokens = state_.shape.batchTokens;
  groups_ = c.checkRows == kCheckAll ? groupsOf(kReferenceHeads) : c.heads;
  const int perToken = c.checkRows == kCheckAll ? groups_ : 1;
  const auto turn = static_cast<int>(
      mix64(streamHash(c.seed, Stream::check, 1, 0) ^ static_cast<uint64_t>(state_.frame.step)) %
      static_cast<uint64_t>(c.heads));
  const auto unitOf = [&](int i) {
    const int token = i / perToken;
    return Unit{c.layers, token, perToken == 1 ? (turn + token) % c.heads : i % perToken};
  };
  std::fill_n(refused_.data(), tokens, static_cast<unsigned char>(0));
  const int units = tokens * perToken;
  for (int first = 0; first < units && !state_.cancelled(); first += kWave) {
    const int count = std::min(kWave, units - first);
    for (int i = 0; i < count; ++i) wave_[static_cast<size_t>(i)] = unitOf(first + i);
    computeWave(wave_.data(), count);
    for (int i = 0; i < count; ++i) {
      const Unit& unit = wave_[static_cast<size_t>(i)];
      for (int h = 0; h < headsIn(unit.group); ++h)
        if (!(errorOf(i, unit, h, group).relative <= kAccepted)) refused_[unit.token] = 1;
    }
  }
  result.proposed = tokens;
  result.accepted = static_cast<int32_t>(std::count(refused_.data(), refused_.data() + tokens, 0));
}

void Checker::compare(int slot, const Unit& unit, Group& group, CheckResult& result) const {
  for (int h = 0; h < headsIn(unit.group); ++h) {
    const auto [worst, relative] = errorOf(slot, unit, h, group);
    const double infinity = std::numeric_limits<double>::infinity();
    if (!(worst <= result.maxAbs)) result.maxAbs = std::isnan(worst) ? infinity : worst;
    if (!(relative <= result.maxRel) || result.token < 0) {
      result.maxRel = std::isnan(relative) ? infinity : relative;
      result.layer = unit.layer;
      result.token = unit.token;
      result.head = unit.group + h * groups_;
    }
    ++result.checked;
  }
}

int Checker::reference(int layer, Tensor& out, Tensor& lse) {
  const Config& c = state_.config;
  const Shape& s = state_.shape;
  auto* outTo = reinterpret_cast<double*>(out.data.data());
  auto* lseTo = reinterpret_cast<double*>(lse.data.data());
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  std::fill_n(outTo, static_cast<int64_t>(s.tokens) * c.heads * s.valueDim, none);
  std::fill_n(lseTo, static_cast<int64_t>(s.tokens) * c.heads, none);
  groups_ = groupsOf(kReferenceHeads);
  double spent = 0;
  int affordable = 0;
  for (; affordable < s.batchTokens; ++affordable) {
    spent += static_cast<double>(keys(affordable)) * c.heads * (s.keyDim + s.valueDim);
    if (spent > kReferenceLimit) break;
  }
  const int units = affordable * groups_;
  for (int first = 0; first < units && !state_.cancelled(); first += kWave) {
    const int count = std::min(kWave, units - first);
    for (int i = 0; i < count; ++i)
      wave_[static_cast<size_t>(i)] = {layer, (first + i) / groups_, (first + i) % groups_};
    computeWave(wave_.data(), count);
    for (int i = 0; i < count; ++i) storeReference(i, wave_[static_cast<size_t>(i)], outTo, lseTo);
  }
  return affordable;
}

void Checker::storeReference(int slot, const Unit& unit, double* out, double* lse) const {
  const int V = state_.shape.valueDim;
  const ReferencePartial& truth = partials_[static_cast<size_t>(slot) * kParts];
  for (int h = 0; h < headsIn(unit.group); ++h) {
    const int64_t row = static_cast<int64_t>(unit.token) * state_.config.heads + unit.group + h * groups_;
    std::copy_n(truth.acc + static_cast<int64_t>(h) * V, V, out + row * V);
    lse[row] = truth.top[h] * (state_.config.base2 ? 1 : kLn2);
  }
}

}  // namespace dcpscope
