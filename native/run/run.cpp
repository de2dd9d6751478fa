#include "run/run.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>
#include <new>
#include <string>

#include "core/deal.h"
#include "core/error.h"
#include "run/budget.h"

namespace dcpscope {
namespace {

/** Values of RunState::cancel. */
constexpr int kCancel = 1;
constexpr int kCancelKeeping = 2;

void requireMember(const Config& config, const std::optional<Member>& member) {
  if (config.processes != member.has_value())
    throw EngineError(ErrorCode::config, config.processes
                                             ? "processes: needs a rank of its own for this run"
                                             : "processes: must be true for the run of one rank");
  if (member && (member->rank < 0 || member->rank >= config.ranks))
    throw EngineError(ErrorCode::config, "rank: must be below ranks (" + std::to_string(config.ranks) +
                                             "), got " + std::to_string(member->rank));
}

const Config& validated(const Config& config, const Device& device, const std::optional<Member>& member) {
  validate(config);
  requireMember(config, member);
  const std::vector<MemoryComponent> components = predictMemory(config, device);
  if (!member || member->creates) requireMemory(components, memoryAvailable().available);
  device.requireRoom(components);
  requireAddressablePool(config, Shape(config));
  return config;
}

}  // namespace

Run::Run(const Config& config, const Device& device, std::optional<Member> member)
    : state_(config, ringSizes(validated(config, device, member)), member),
      pool_(device.threads(config)),
      steps_(stepColumns(), kStepRows),
      events_(eventColumns(), kEventRows),
      group_(device.createGroup(state_, pool_)),
      checker_(state_.leads() ? std::make_unique<Checker>(state_, pool_) : nullptr),
      notes_(static_cast<size_t>(config.ranks)),
      recorded_(state_.shape.requests),
      emptySeen_(config.ranks),
      eventsPerStep_(eventsPerStep(config)) {
  std::fill_n(recorded_.data(), recorded_.size(), -1);
}

Run::~Run() = default;

void Run::cancel(bool keepStep) {
  __atomic_store_n(&state_.cancel, keepStep ? kCancelKeeping : kCancel, __ATOMIC_RELAXED);
}

void Run::arm() { __atomic_store_n(&state_.cancel, 0, __ATOMIC_RELAXED); }

void Run::throwIfCancelled() {
  if (!state_.cancelled()) return;
  throw EngineError(ErrorCode::cancelled, "the run was cancelled");
}

void Run::event(EventRow row) { events_.push(row); }

void Run::prepareFill() {
  if (fillItems_ >= 0) return;
  for (int r = 0; r < state_.shape.requests; ++r) {
    state_.frame.before[r] = contextAt(state_.config, r, 0);
    state_.frame.after[r] = state_.frame.before[r];
  }
  takePages();
  const int64_t tokens = group_->fillSizes().tokens;
  for (int r = 0; r < state_.shape.requests; ++r) {
    const int64_t length = contextAt(state_.config, r, 0);
    for (int64_t first = 0; first < length; first += tokens)
      blocks_.push_back({r, first, std::min(length, first + tokens)});
  }
  fillItems_ = static_cast<int64_t>(blocks_.size()) * allLayers(state_.config);
}

double Run::fill(double maxMs) {
  state_.at({Activity::filling});
  prepareFill();
  const int64_t begin = state_.clock.now();
  const int64_t batch = group_->fillSizes().pieces;
  const int layers = allLayers(state_.config);
  while (filled_ < fillItems_) {
    const int64_t count = std::min(batch, fillItems_ - filled_);
    pieces_.clear();
    for (int64_t i = filled_; i < filled_ + count; ++i) {
      const FillBlock& block = blocks_[static_cast<size_t>(i / layers)];
      pieces_.push_back({static_cast<int>(i % layers), block.request, block.first, block.last});
    }
    group_->fill(pieces_);
    throwIfCancelled();
    filled_ += count;
    if (static_cast<double>(state_.clock.now() - begin) >= maxMs * 1e6) break;
  }
  return fillItems_ == 0 ? 1 : static_cast<double>(filled_) / static_cast<double>(fillItems_);
}

AdvanceResult Run::advance(int maxSteps, double maxMs, int64_t waitedNs) {
  const Config& c = state_.config;
  if (fillItems_ < 0 || filled_ < fillItems_)
    throw EngineError(ErrorCode::state, "the context is not filled yet");
  if (waitedNs > 0) stall(waitedNs);
  const int64_t begin = state_.clock.now();
  const auto timeIsUp = [&] { return static_cast<double>(state_.clock.now() - begin) >= maxMs * 1e6; };
  for (bool first = true; warmupDone_ < c.warmup; first = false, ++warmupDone_) {
    if (!first && timeIsUp()) return {stepsDone_, false, false};
    beginFrame(0, false);
    group_->step();
    throwIfCancelled();
  }
  const int64_t target = std::min<int64_t>(c.steps, static_cast<int64_t>(stepsDone_) + std::max(maxSteps, 0));
  for (bool first = true; stepsDone_ < target; first = false) {
    if (!first && timeIsUp()) break;
    if (!roomForStep(stepsDone_)) return {stepsDone_, false, true};
    beginFrame(stepsDone_, true);
    finishStep(group_->step());
    ++stepsDone_;
    if (state_.frame.captured) break;
  }
  return {stepsDone_, stepsDone_ == c.steps, false};
}

int64_t Run::changedPages(int step) const {
  const Config& c = state_.config;
  int64_t changed = 0;
  for (int r = 0; r < state_.shape.requests; ++r) {
    const Deal deal = dealOf(c, r);
    const int64_t columns = deal.columns(lengthAt(c, r, step), c.pageSize);
    const int64_t known = recorded_[r] < 0 ? 0 : deal.openColumn(recorded_[r], c.pageSize);
    changed += std::max<int64_t>(columns - known, 0);
  }
  return changed;
}

bool Run::roomForStep(int step) {
  const int64_t pages = changedPages(step);
  const int64_t rows = static_cast<int64_t>(allLayers(state_.config)) * state_.shape.tokens;
  const int64_t kernels =
      RunState::contains(state_.config.kernelSteps, step) ? kernelsPerStep(state_.config) : 0;
  const bool captureWaits = !captures_.empty() && RunState::contains(state_.config.captureSteps, step);
  if (captureWaits || steps_.room() < 1 || events_.room() < eventsPerStep_) return false;
  return std::all_of(state_.traces.begin(), state_.traces.end(), [&](const auto& trace) {
    return trace->spans.room() >= spansPerStep(state_.config) && trace->rows.room() >= rows &&
           trace->pages.room() >= pages && trace->kernels.room() >= kernels;
  });
}

void Run::beginFrame(int step, bool traced) {
  StepFrame& frame = state_.frame;
  frame.step = step;
  frame.traced = traced;
  frame.captured =
      traced && RunState::contains(state_.config.captureSteps, step) && !state_.config.captureLayers.empty();
  frame.kernels = traced && RunState::contains(state_.config.kernelSteps, step);
  for (int r = 0; r < state_.shape.requests; ++r) {
    frame.before[r] = contextAt(state_.config, r, step);
    frame.after[r] = lengthAt(state_.config, r, step);
  }
  takePages();
  for (auto& trace : state_.traces) trace->beginStep();
  if (!frame.captured) return;
  try {
    prepareCaptures();
  } catch (const std::bad_alloc&) {
    captureFailed();
  }
}

void Run::takePages() {
  const Config& c = state_.config;
  for (int r = 0; r < state_.shape.requests; ++r) {
    const int64_t length = state_.frame.after[r];
    const int64_t columns = dealOf(c, r).columns(length, c.pageSize);
    if (state_.pages.extend(r, columns) && (!state_.draftPages || state_.draftPages->extend(r, columns)))
      continue;
    int64_t needed = 0;
    for (int i = 0; i < state_.shape.requests; ++i)
      needed += dealOf(c, i).columns(state_.frame.after[i], c.pageSize);
    const int64_t pool = state_.shape.poolPages;
    if (state_.leads())
      event({state_.frame.step, -1, -1, r, state_.clock.now(), EventKind::poolFull, -1,
             static_cast<double>(needed), static_cast<double>(pool)});
    throw EngineError(ErrorCode::poolFull,
                      "the KV pool is full at step " + std::to_string(state_.frame.step) + ": request " +
                          std::to_string(r) + " with " + std::to_string(length) + " tokens needs " +
                          std::to_string(columns) + " pages, the batch " + std::to_string(needed) +
                          ", the pool of a rank has " + std::to_string(pool) + " pages of " +
                          std::to_string(c.pageSize) + " tokens");
  }
}

void Run::finishStep(const StepTimes& times) {
  CheckResult check;
  std::vector<Capture> captures;
  if (!state_.cancelled()) {
    noteStep();
    state_.at({Activity::checking, {}, -1, state_.frame.step});
    if (checker_ != nullptr) check = checker_->check(*group_);
    captures = captureStep();
  }
  if (state_.cancelled() || !group_->conclude(notes_)) {
    if (__atomic_load_n(&state_.cancel, __ATOMIC_RELAXED) != kCancelKeeping)
      for (auto& trace : state_.traces) trace->giveUp();
    throwIfCancelled();
  }
  const int64_t now = state_.clock.now();
  std::move(captures.begin(), captures.end(), std::back_inserter(captures_));
  recordPages();
  if (!state_.leads()) return;
  recordSightings(now);
  recordEmptyRanks(now);
  recordCheck(check, now);
  recordKernels(times.kernels, now);
  recordStep(check, times);
}

std::vector<NamedRing> Run::rings() {
  std::vector<NamedRing> all;
  for (int rank = state_.firstRank(); rank < state_.endRank(); ++rank) {
    RankTrace& trace = state_.trace(rank);
    all.push_back({"spans", rank, &trace.spans});
    all.push_back({"rows", rank, &trace.rows});
    all.push_back({"pages", rank, &trace.pages});
    all.push_back({"kernels", rank, &trace.kernels, &state_.kernelNames});
  }
  all.push_back({"steps", -1, &steps_});
  all.push_back({"events", -1, &events_});
  return all;
}

std::vector<Capture> Run::takeCaptures() {
  std::vector<Capture> taken;
  taken.swap(captures_);
  return taken;
}

int64_t Run::dropped() {
  int64_t total = 0;
  for (const NamedRing& named : rings()) total += named.ring->dropped();
  return total;
}

}  // namespace dcpscope
