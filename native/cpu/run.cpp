#include "cpu/run.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>
#include <new>
#include <string>

#include "core/error.h"
#include "core/layout.h"
#include "cpu/budget.h"

namespace dcpscope {
namespace {

/** Tokens of one piece of filling. */
constexpr int64_t kFillTokens = 128;

const Config& validated(const Config& config) {
  validate(config);
  requireMemory(predictMemory(config), memoryAvailable().available);
  requireAddressablePages(Shape(config));
  return config;
}

}  // namespace

Run::Run(const Config& config)
    : shared_(validated(config), usableCores()),
      pool_(poolThreads(config)),
      steps_(stepColumns(), kStepRows),
      events_(eventColumns(), kEventRows),
      recorded_(shared_.shape.requests),
      emptySeen_(config.ranks) {
  const RingSizes sizes = ringSizes(shared_.config, shared_.shape);
  for (int r = 0; r < config.ranks; ++r)
    shared_.ranks.push_back(
        std::make_unique<Rank>(shared_, r, teamOf(r, config.ranks, pool_.threads()), sizes));
  for (int i = 0; i < pool_.threads(); ++i)
    scratch_.push_back(std::make_unique<ThreadScratch>(shared_.shape));
  checker_ = std::make_unique<Checker>(shared_, pool_);
  std::fill_n(recorded_.data(), recorded_.size(), -1);
}

Run::~Run() = default;

void Run::cancel() { __atomic_store_n(&shared_.cancel, 1, __ATOMIC_RELAXED); }

void Run::arm() { __atomic_store_n(&shared_.cancel, 0, __ATOMIC_RELAXED); }

void Run::throwIfCancelled() {
  if (!shared_.cancelled()) return;
  throw EngineError(ErrorCode::cancelled, "the run was cancelled");
}

void Run::event(EventRow row) { events_.push(row); }

void Run::prepareFill() {
  if (fillItems_ >= 0) return;
  for (int r = 0; r < shared_.shape.requests; ++r) {
    shared_.frame.before[r] = contextAt(shared_.config, r, 0);
    shared_.frame.after[r] = shared_.frame.before[r];
  }
  takePages();
  for (int r = 0; r < shared_.shape.requests; ++r) {
    const int64_t length = contextAt(shared_.config, r, 0);
    for (int64_t first = 0; first < length; first += kFillTokens)
      blocks_.push_back({r, first, std::min(length, first + kFillTokens)});
  }
  fillItems_ = static_cast<int64_t>(blocks_.size()) * shared_.config.layers;
}

double Run::fill(double maxMs) {
  prepareFill();
  const int64_t begin = shared_.clock.now();
  const int64_t batch = 16 * static_cast<int64_t>(pool_.threads());
  while (filled_ < fillItems_) {
    const int64_t first = filled_;
    const int64_t count = std::min(batch, fillItems_ - first);
    pool_.forEach(count, [&](int, int64_t i) {
      const FillBlock& block = blocks_[static_cast<size_t>((first + i) / shared_.config.layers)];
      const auto layer = static_cast<int>((first + i) % shared_.config.layers);
      for (auto& rank : shared_.ranks) rank->fill(layer, block.request, block.first, block.last);
    });
    throwIfCancelled();
    filled_ += count;
    if (static_cast<double>(shared_.clock.now() - begin) >= maxMs * 1e6) break;
  }
  return fillItems_ == 0 ? 1 : static_cast<double>(filled_) / static_cast<double>(fillItems_);
}

AdvanceResult Run::advance(int maxSteps, double maxMs, int64_t waitedNs) {
  const Config& c = shared_.config;
  if (fillItems_ < 0 || filled_ < fillItems_)
    throw EngineError(ErrorCode::state, "the context is not filled yet");
  if (waitedNs > 0) stall(waitedNs);
  const int64_t begin = shared_.clock.now();
  const auto timeIsUp = [&] { return static_cast<double>(shared_.clock.now() - begin) >= maxMs * 1e6; };
  for (bool first = true; warmupDone_ < c.warmup; first = false, ++warmupDone_) {
    if (!first && timeIsUp()) return {stepsDone_, false, false};
    beginFrame(0, false);
    runFrame();
    throwIfCancelled();
  }
  const int64_t target = std::min<int64_t>(c.steps, static_cast<int64_t>(stepsDone_) + std::max(maxSteps, 0));
  for (bool first = true; stepsDone_ < target; first = false) {
    if (!first && timeIsUp()) break;
    if (!roomForStep(stepsDone_)) return {stepsDone_, false, true};
    beginFrame(stepsDone_, true);
    runFrame();
    finishStep();
    ++stepsDone_;
    if (shared_.frame.captured) break;
  }
  return {stepsDone_, stepsDone_ == c.steps, false};
}

int64_t Run::changedPages(int step) const {
  const Config& c = shared_.config;
  int64_t changed = 0;
  for (int r = 0; r < shared_.shape.requests; ++r) {
    const int64_t columns = layout::columns(contextAt(c, r, step) + c.qLen, c.ranks, c.pageSize);
    const int64_t known = recorded_[r] < 0 ? 0 : layout::column(recorded_[r], c.ranks, c.pageSize);
    changed += std::max<int64_t>(columns - known, 0);
  }
  return changed;
}

bool Run::roomForStep(int step) {
  const int64_t pages = changedPages(step);
  const int64_t rows = static_cast<int64_t>(shared_.config.layers) * shared_.shape.tokens;
  const bool captureWaits = !captures_.empty() && Shared::contains(shared_.config.captureSteps, step);
  if (captureWaits || steps_.room() < 1 || events_.room() < kEventsPerStep) return false;
  return std::all_of(shared_.ranks.begin(), shared_.ranks.end(), [&](const auto& rank) {
    return rank->spans.room() >= spansPerStep(shared_.config) && rank->rows.room() >= rows &&
           rank->pages.room() >= pages;
  });
}

void Run::beginFrame(int step, bool traced) {
  StepFrame& frame = shared_.frame;
  frame.step = step;
  frame.traced = traced;
  frame.captured =
      traced && Shared::contains(shared_.config.captureSteps, step) && !shared_.config.captureLayers.empty();
  for (int r = 0; r < shared_.shape.requests; ++r) {
    frame.before[r] = contextAt(shared_.config, r, step);
    frame.after[r] = frame.before[r] + shared_.config.qLen;
  }
  takePages();
  shared_.inputs.make(pool_, frame.before.data());
  if (!frame.captured) return;
  try {
    prepareCaptures();
  } catch (const std::bad_alloc&) {
    captureFailed();
  }
}

void Run::takePages() {
  const Config& c = shared_.config;
  for (int r = 0; r < shared_.shape.requests; ++r) {
    const int64_t length = shared_.frame.after[r];
    const int64_t columns = layout::columns(length, c.ranks, c.pageSize);
    if (shared_.pages.extend(r, columns)) continue;
    int64_t needed = 0;
    for (int i = 0; i < shared_.shape.requests; ++i)
      needed += layout::columns(shared_.frame.after[i], c.ranks, c.pageSize);
    const int64_t pool = shared_.shape.poolPages;
    event({shared_.frame.step, -1, -1, r, shared_.clock.now(), EventKind::poolFull, -1,
           static_cast<double>(needed), static_cast<double>(pool)});
    throw EngineError(ErrorCode::poolFull,
                      "the KV pool is full at step " + std::to_string(shared_.frame.step) + ": request " +
                          std::to_string(r) + " with " + std::to_string(length) + " tokens needs " +
                          std::to_string(columns) + " pages, the batch " + std::to_string(needed) +
                          ", the pool of a rank has " + std::to_string(pool) + " pages of " +
                          std::to_string(c.pageSize) + " tokens");
  }
}

void Run::runFrame() {
  const int ranks = shared_.config.ranks;
  pool_.each([&](int thread) {
    ThreadScratch& scratch = *scratch_[static_cast<size_t>(thread)];
    if (thread < ranks)
      shared_.ranks[static_cast<size_t>(thread)]->run(scratch);
    else
      shared_.ranks[static_cast<size_t>((thread - ranks) % ranks)]->help(scratch);
  });
}

void Run::finishStep() {
  CheckResult check;
  MergedNan nan;
  std::vector<Capture> captures;
  if (!shared_.cancelled()) {
    nan = checker_->findNan();
    check = checker_->check();
    captures = captureStep();
  }
  if (shared_.cancelled()) {
    for (auto& rank : shared_.ranks) rank->giveUp();
    throwIfCancelled();
  }
  const int64_t now = shared_.clock.now();
  std::move(captures.begin(), captures.end(), std::back_inserter(captures_));
  recordPages();
  recordSightings(now);
  recordCheck(check, nan, now);
  recordStep(check);
}

std::vector<NamedRing> Run::rings() {
  std::vector<NamedRing> all;
  for (size_t r = 0; r < shared_.ranks.size(); ++r) {
    Rank& rank = *shared_.ranks[r];
    const auto id = static_cast<int>(r);
    all.push_back({"spans", id, &rank.spans});
    all.push_back({"rows", id, &rank.rows});
    all.push_back({"pages", id, &rank.pages});
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
