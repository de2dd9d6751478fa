#include "cpu/run.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>
#include <new>
#include <string>

#include "core/error.h"
#include "core/layout.h"

namespace dcpscope {
namespace {

/** Tokens of one piece of filling. */
constexpr int64_t kFillTokens = 128;
/** Rows that a ring holds at least, where the run is that long. */
constexpr int64_t kRingRows = 32768;
/** Spans kept free for stalls between steps. */
constexpr int64_t kStallSpans = 64;
constexpr int64_t kStepRows = 8192;
/** Events of one step at most: kinds that are summed up, and one of empty shards a rank. */
constexpr int64_t kEventsPerStep = 8 + 64;
constexpr int64_t kEventRows = 8192;

int poolThreads(const Config& config) { return std::max(config.ranks, usableCores()); }

/** Threads that work on a rank's attention. */
int teamOf(int rank, int ranks, int threads) {
  const int helpers = threads - ranks;
  return 1 + helpers / ranks + (rank < helpers % ranks ? 1 : 0);
}

int64_t ringRows(int64_t perStep, int64_t steps) {
  const int64_t wanted = std::max<int64_t>(kRingRows / std::max<int64_t>(perStep, 1), 1);
  return perStep * std::min(wanted, steps);
}

/** Cells that change in one step at most after the first, a rank: the grown one and those begun. */
int64_t pagesPerStep(const Config& c, const Shape& s) {
  const int64_t virtualPage = static_cast<int64_t>(c.pageSize) * c.ranks;
  return s.requests * ((c.qLen + virtualPage - 1) / virtualPage + 1);
}

RingSizes ringSizes(const Config& c, const Shape& s) {
  const int64_t rows = static_cast<int64_t>(c.layers) * s.tokens;
  int64_t firstPages = 0;
  for (int r = 0; r < s.requests; ++r)
    firstPages += layout::columns(contextAt(c, r, 0) + c.qLen, c.ranks, c.pageSize);
  return {ringRows(spansPerStep(c), c.steps) + kStallSpans, ringRows(rows, c.steps),
          std::max(firstPages, ringRows(pagesPerStep(c, s), c.steps))};
}

int64_t ringBytes(const Config& c, const Shape& s) {
  const RingSizes sizes = ringSizes(c, s);
  const int64_t perRank = sizes.spans * rowBytes(spanColumns()) + sizes.rows * rowBytes(queryRowColumns()) +
                          sizes.pages * rowBytes(pageColumns());
  return c.ranks * perRank + kStepRows * rowBytes(stepColumns()) + kEventRows * rowBytes(eventColumns());
}

int64_t threadBytes(const Shape& s, int threads) {
  const int64_t floats =
      attentionScratch(s.keyDim, kUnitRows, kTileKeys) + static_cast<int64_t>(kUnitRows) * (s.valueDim + 2);
  constexpr int64_t kStack = int64_t{128} << 10;
  return threads * (floats * 4 + kStack);
}

const Config& validated(const Config& config) {
  validate(config);
  requireMemory(predictMemory(config), memoryAvailable().available);
  return config;
}

}  // namespace

std::vector<MemoryComponent> predictMemory(const Config& config) {
  validate(config);
  const Shape shape(config);
  const AttentionPlan plan(config, shape);
  const Rank::Bytes rank = Rank::bytes(config, shape, plan);
  const int threads = poolThreads(config);
  const int64_t ranks = config.ranks;
  return {{"kv_pages", ranks * rank.pool},
          {"queries", ranks * rank.queries},
          {"partials", ranks * rank.partials},
          {"merged", ranks * rank.merged},
          {"inputs", Inputs::bytes(config, shape)},
          {"page_tables", ranks * rank.tables + PageTable::bytes(shape)},
          {"workspace", threadBytes(shape, threads)},
          {"reference", Checker::bytes(config, shape, threads)},
          {"rings", ringBytes(config, shape)},
          {"rest_of_layer", restBufferBytes(config)},
          {"capture", captureBytes(config, shape)}};
}

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

void Run::throwIfCancelled() {
  if (!shared_.cancelled()) return;
  __atomic_store_n(&shared_.cancel, 0, __ATOMIC_RELAXED);
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
  if (frame.captured) prepareCaptures();
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
  if (!shared_.cancelled()) {
    nan = checker_->findNan();
    check = checker_->check();
    if (shared_.frame.captured) finishCaptures();
  }
  if (shared_.cancelled()) {
    for (auto& rank : shared_.ranks) rank->giveUp();
    throwIfCancelled();
  }
  const int64_t now = shared_.clock.now();
  recordPages();
  recordSightings(now);
  recordCheck(check, nan, now);
  recordStep(check);
}

void Run::recordPages() {
  const Config& c = shared_.config;
  const int P = c.pageSize;
  for (int r = 0; r < shared_.shape.requests; ++r) {
    const int64_t after = shared_.frame.after[r];
    const bool first = recorded_[r] < 0;
    const int64_t begin = first ? 0 : layout::column(recorded_[r], c.ranks, P);
    const int64_t known = first ? 0 : layout::columns(recorded_[r], c.ranks, P);
    for (int rank = 0; rank < c.ranks; ++rank) {
      const int64_t before = first ? 0 : layout::localLength(recorded_[r], rank, c.ranks, c.interleave);
      const int64_t length = layout::localLength(after, rank, c.ranks, c.interleave);
      for (int64_t column = begin; column < layout::columns(after, c.ranks, P); ++column) {
        const int64_t valid = std::clamp<int64_t>(length - column * P, 0, P);
        if (column < known && valid == std::clamp<int64_t>(before - column * P, 0, P)) continue;
        shared_.ranks[static_cast<size_t>(rank)]->pages.push(
            PageRow{shared_.frame.step, r, static_cast<int32_t>(column), shared_.pages.row(r)[column],
                    static_cast<int32_t>(valid)});
      }
    }
    recorded_[r] = after;
  }
}

void Run::recordSightings(int64_t now) {
  const auto summed = [&](EventKind kind, Sighting Rank::* which) {
    EventRow row{shared_.frame.step, -1, -1, -1, now, kind, -1, 0, 0};
    for (size_t r = 0; r < shared_.ranks.size(); ++r) {
      const Sighting& seen = (*shared_.ranks[r]).*which;
      if (seen.count > 0 && row.value == 0) {
        row.layer = seen.layer;
        row.rank = static_cast<int32_t>(r);
        row.request = seen.request;
        row.row = seen.row;
      }
      row.value += static_cast<double>(seen.count);
    }
    if (row.value > 0) event(row);
  };
  summed(EventKind::nanInPartial, &Rank::nan);
  summed(EventKind::infInPartial, &Rank::inf);
  summed(EventKind::nanInLse, &Rank::lseNan);
  for (size_t r = 0; r < shared_.ranks.size(); ++r) {
    const Sighting& empty = shared_.ranks[r]->empty;
    int64_t& seen = emptySeen_[static_cast<int64_t>(r)];
    if (empty.count > 0 && empty.count != seen)
      event({shared_.frame.step, -1, static_cast<int32_t>(r), empty.request, now, EventKind::emptyRank, -1,
             static_cast<double>(empty.count), static_cast<double>(shared_.shape.requests)});
    seen = empty.count;
  }
}

void Run::recordCheck(const CheckResult& check, const MergedNan& nan, int64_t now) {
  const int qLen = shared_.config.qLen;
  if (nan.count > 0)
    event({shared_.frame.step, nan.layer, nan.rank, nan.token / qLen, now, EventKind::nanInMerged, nan.token,
           static_cast<double>(nan.count), 0});
  if (check.checked == 0 || check.maxRel <= tolerance(shared_.config)) return;
  event({shared_.frame.step, check.layer, check.head / shared_.shape.headsPerRank, check.token / qLen, now,
         EventKind::checkFailed, check.token, check.maxRel, tolerance(shared_.config)});
}

void Run::recordStep(const CheckResult& check) {
  int64_t begin = std::numeric_limits<int64_t>::max();
  int64_t end = 0;
  for (const auto& rank : shared_.ranks) {
    begin = std::min(begin, rank->began);
    end = std::max(end, rank->ended);
  }
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  steps_.push(StepRow{
      shared_.frame.step, begin, end - begin, shared_.shape.requests * shared_.config.acceptedPerStep,
      check.checked > 0 ? check.maxAbs : none, check.checked > 0 ? check.maxRel : none, check.checked});
}

void Run::stall(int64_t waitedNs) {
  const int64_t now = shared_.clock.now();
  for (auto& rank : shared_.ranks)
    rank->spans.push(
        SpanRow{stepsDone_, -1, Stage::stall, std::max<int64_t>(now - waitedNs, 0), waitedNs, 0, 0});
}

void Run::prepareCaptures() {
  const Config& c = shared_.config;
  const Shape& s = shared_.shape;
  const DumpType value = shared_.bf16() ? DumpType::bf16 : DumpType::f32;
  const int64_t T = s.tokens;
  const int64_t H = c.heads;
  const std::vector<int> layers = capturedLayers(c);
  for (int r = 0; r < c.ranks; ++r)
    for (const int layer : layers) {
      Capture capture{shared_.frame.step, layer, r, {}, ""};
      capture.tensors.push_back(makeTensor("q", value, {T, H, s.keyDim}));
      for (const char* name : {"out", "out_kernel"})
        capture.tensors.push_back(makeTensor(name, value, {T, H, s.valueDim}));
      for (const char* name : {"lse", "lse_kernel"})
        capture.tensors.push_back(makeTensor(name, DumpType::f32, {T, H}));
      capture.tensors.push_back(makeTensor("merged", value, {T, s.headsPerRank, s.valueDim}));
      shared_.ranks[static_cast<size_t>(r)]->captures.push_back(std::move(capture));
    }
}

void Run::finishCaptures() {
  for (auto& rank : shared_.ranks) {
    for (Capture& capture : rank->captures) capturePages(capture);
    std::move(rank->captures.begin(), rank->captures.end(), std::back_inserter(captures_));
    rank->captures.clear();
  }
  for (const int layer : capturedLayers(shared_.config)) captures_.push_back(captureReference(layer));
}

Capture Run::captureReference(int layer) {
  const int64_t T = shared_.shape.tokens;
  Capture capture{shared_.frame.step, layer, -1, {}, ""};
  capture.tensors.push_back(
      makeTensor("out", DumpType::f64, {T, shared_.config.heads, shared_.shape.valueDim}));
  capture.tensors.push_back(makeTensor("lse", DumpType::f64, {T, shared_.config.heads}));
  const int done = checker_->reference(layer, capture.tensors[0], capture.tensors[1]);
  if (done < T)
    capture.leftOut = "reference: rows from " + std::to_string(done) + " on are NaN, " +
                      std::to_string(done) + " of " + std::to_string(T) +
                      " rows were computed within the limit of 2e11 multiply-adds";
  return capture;
}

void Run::capturePages(Capture& capture) {
  const Config& c = shared_.config;
  const Shape& s = shared_.shape;
  Rank& rank = *shared_.ranks[static_cast<size_t>(capture.rank)];
  const auto add = [&](const char* name, DumpType type, std::vector<int64_t> shape) -> unsigned char* {
    capture.tensors.push_back(makeTensor(name, type, std::move(shape)));
    return capture.tensors.back().data.data();
  };
  int64_t columns = 0;
  for (int r = 0; r < s.requests; ++r) columns = std::max(columns, shared_.pages.columns(r));
  auto* global = reinterpret_cast<int32_t*>(add("seq_lens_global", DumpType::i32, {s.requests}));
  auto* local = reinterpret_cast<int32_t*>(add("seq_lens_local", DumpType::i32, {s.requests}));
  auto* table = reinterpret_cast<int32_t*>(add("block_table", DumpType::i32, {s.requests, columns}));
  std::fill_n(table, s.requests * columns, -1);
  for (int r = 0; r < s.requests; ++r) {
    global[r] = static_cast<int32_t>(shared_.frame.after[r]);
    local[r] = static_cast<int32_t>(rank.localLength(r));
    std::copy_n(rank.blockTable(r), shared_.pages.columns(r), table + r * columns);
  }
  std::memcpy(add("slot_mapping", DumpType::i64, {s.tokens}), rank.slots().data(),
              static_cast<size_t>(s.tokens) * 8);
  const int64_t pageBytes = static_cast<int64_t>(c.pageSize) * s.keyDim * s.valueBytes;
  const int64_t taken = shared_.pages.pagesTaken();
  if (pageBytes * taken * c.ranks > kMaxCapturedPages) {
    constexpr double kMiB = 1 << 20;
    capture.leftOut =
        "kv: the pages of all ranks are " +
        std::to_string(static_cast<int64_t>(static_cast<double>(pageBytes * taken * c.ranks) / kMiB)) +
        " MiB, above the limit of " + std::to_string(kMaxCapturedPages >> 20) + " MiB";
    return;
  }
  auto* ids = reinterpret_cast<int32_t*>(add("page_ids", DumpType::i32, {taken}));
  unsigned char* kv =
      add("kv", shared_.bf16() ? DumpType::bf16 : DumpType::f32, {taken, c.pageSize, s.keyDim});
  int64_t i = 0;
  for (int r = 0; r < s.requests; ++r)
    for (int64_t column = 0; column < shared_.pages.columns(r); ++column, ++i) {
      ids[i] = shared_.pages.row(r)[column];
      std::memcpy(kv + i * pageBytes, rank.pool(capture.layer) + ids[i] * pageBytes,
                  static_cast<size_t>(pageBytes));
    }
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
