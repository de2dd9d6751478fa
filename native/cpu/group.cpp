#include "cpu/group.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

#include "comm/process_peers.h"
#include "core/deal.h"
#include "cpu/thread_peers.h"

namespace dcpscope {
namespace {

constexpr int64_t kFillTokens = 128;

/** Threads that work on a rank's attention. */
int teamOf(int rank, int ranks, int threads) {
  const int helpers = threads - ranks;
  return 1 + helpers / ranks + (rank < helpers % ranks ? 1 : 0);
}

int64_t threadBytes(const Shape& s, int threads) {
  const int64_t floats =
      attentionScratch(s.keyDim, kUnitRows, kTileKeys) + static_cast<int64_t>(kUnitRows) * (s.valueDim + 2);
  constexpr int64_t kStack = int64_t{128} << 10;
  return threads * (floats * 4 + kStack);
}

/** Ranks with processes of their own share the cores. */
int threadsOf(const Config& c) {
  return c.processes ? std::max(1, usableCores() / c.ranks) : std::max(c.ranks, usableCores());
}

/** How often a rank looks for others before it sleeps; not where it may keep them from their core. */
int lookRounds(const Config& c) { return usableCores() >= c.ranks ? 2000 : 0; }

/**
 * How long a rank with a process of its own may stand still: for 5 s, and for as long as its longest piece of
 * work could take on a slow core.
 */
int64_t patience(const Config& c, const Shape& s) {
  constexpr int64_t kLeast = 5'000'000'000;
  const AttentionPlan plan(c, s);
  int64_t longest = 0;
  for (int r = 0; r < s.requests; ++r)
    longest = std::max(longest, dealOf(c, r).localLength(lastLength(c, r), 0));
  const int64_t keys = plan.splitKeys(plan.keys(longest));
  // Two multiply-adds a nanosecond.
  return kLeast +
         std::min(kUnitRows, s.rowsPerRequest) * static_cast<int64_t>(s.keyDim + s.valueDim) * keys / 2;
}

std::unique_ptr<Peers> peersOf(RunState& state) {
  const Config& c = state.config;
  const PeerBytes bytes = Rank::bytes(c, state.shape, AttentionPlan(c, state.shape)).peers;
  if (!state.member || c.ranks == 1) return std::make_unique<ThreadPeers>(bytes, c.ranks, lookRounds(c));
  return std::make_unique<ProcessPeers>(state, bytes, patience(c, state.shape), lookRounds(c));
}

class Cpu final : public Device {
 public:
  int threads(const Config& config) const override { return threadsOf(config); }

  std::vector<MemoryComponent> memory(const Config& config) const override {
    const Shape shape(config);
    const Rank::Bytes rank = Rank::bytes(config, shape, AttentionPlan(config, shape));
    const int64_t ranks = config.ranks;
    const int64_t processes = config.processes ? ranks : 1;
    const int64_t inputs = Inputs::bytes(config, shape, {0, config.heads});
    return {{"kv_pages", ranks * rank.pool},
            {"queries", ranks * rank.queries},
            {"partials", ranks * rank.partials},
            {"merged", ranks * rank.merged},
            {"inputs", rank.peers.queries > 0
                           ? processes * (Inputs::bytes(config, shape, {0, 0}) + rank.peers.queries)
                           : processes * inputs},
            {"page_tables", ranks * rank.tables},
            {"workspace", processes * threadBytes(shape, threads(config)) + ranks * config.layers * 8},
            {"rest_of_layer", processes * restBufferBytes(config)}};
  }

  /** Its memory is that of the host. */
  void requireRoom(const std::vector<MemoryComponent>&) const override {}

  std::unique_ptr<Group> createGroup(RunState& state, Pool& pool) const override {
    return std::make_unique<CpuGroup>(state, pool);
  }
};

}  // namespace

const Device& cpuDevice() {
  static const Cpu cpu;
  return cpu;
}

CpuGroup::CpuGroup(RunState& state, Pool& pool)
    : shared_(state, peersOf(state), lookRounds(state.config)),
      pool_(pool),
      nanCounts_(static_cast<int64_t>(state.config.layers) * (state.endRank() - state.firstRank())) {
  const int locals = state.endRank() - state.firstRank();
  for (int r = 0; r < locals; ++r)
    shared_.ranks.push_back(
        std::make_unique<Rank>(shared_, state.firstRank() + r, teamOf(r, locals, pool.threads())));
  for (int i = 0; i < pool.threads(); ++i) scratch_.push_back(std::make_unique<ThreadScratch>(shared_.shape));
  if (!state.member) return;
  if (state.config.ranks == 1) {
    beacons_.push_back(&own_);
    state.beacon = &own_;
    return;
  }
  auto& processes = static_cast<ProcessPeers&>(*shared_.peers);
  for (int r = 0; r < state.config.ranks; ++r) beacons_.push_back(&processes.beacon(r));
  port_ = processes.port();
}

CpuGroup::~CpuGroup() { shared_.state.beacon = nullptr; }

FillSizes CpuGroup::fillSizes() const { return {kFillTokens, 16 * static_cast<int64_t>(pool_.threads())}; }

void CpuGroup::fill(std::span<const FillPiece> pieces) {
  pool_.forEach(static_cast<int64_t>(pieces.size()), [&](int, int64_t i) {
    const FillPiece& piece = pieces[static_cast<size_t>(i)];
    for (auto& rank : shared_.ranks) rank->fill(piece.layer, piece.request, piece.first, piece.last);
  });
}

StepTimes CpuGroup::step() {
  const RunState& state = shared_.state;
  state.at({Activity::preparing, {}, -1, state.frame.step});
  shared_.inputs.make(pool_, shared_.frame.before.data());
  state.at({Activity::beginning, {}, -1, state.frame.step});
  const int ranks = locals();
  pool_.each([&](int thread) {
    ThreadScratch& scratch = *scratch_[static_cast<size_t>(thread)];
    if (thread < ranks)
      shared_.ranks[static_cast<size_t>(thread)]->run(scratch);
    else
      shared_.ranks[static_cast<size_t>((thread - ranks) % ranks)]->help(scratch);
  });
  state.at({Activity::ending, {}, -1, state.frame.step});
  shared_.peers->settle(shared_.config.checkRows != 0);
  shared_.peers->throwIfLost();
  int64_t begin = std::numeric_limits<int64_t>::max();
  int64_t end = 0;
  int64_t layers = 0;
  for (int r = 0; r < shared_.config.ranks; ++r) {
    begin = std::min(begin, shared_.peers->report(r).began);
    end = std::max(end, shared_.peers->report(r).ended);
    layers = std::max(layers, shared_.peers->report(r).layers);
  }
  // All ranks run at once, so the device is busy for the whole step.
  return {begin, end - begin, end - begin, layers - begin};
}

const unsigned char* CpuGroup::merged(int layer, int rank, int token) {
  const Shape& s = shared_.shape;
  const int64_t at = static_cast<int64_t>(layer) * s.tokens + token;
  return shared_.peers->memory(rank).merged + at * s.headsPerRank * s.valueDim * s.valueBytes;
}

int64_t CpuGroup::nanIn(int layer, int rank, int token) {
  RowStats stats;
  shared_.code.rows.stats(merged(layer, rank, token), shared_.bf16(),
                          shared_.shape.headsPerRank * shared_.shape.valueDim, stats);
  return stats.nan;
}

MergedNan CpuGroup::findNan() {
  const int ranks = locals();
  const int first = shared_.state.firstRank();
  pool_.forEach(nanCounts_.size(), [&](int, int64_t item) {
    nanCounts_[item] = 0;
    for (int t = 0; t < shared_.shape.batchTokens && !shared_.cancelled(); ++t)
      nanCounts_[item] += nanIn(static_cast<int>(item / ranks), first + static_cast<int>(item % ranks), t);
  });
  MergedNan found;
  for (int64_t item = 0; item < nanCounts_.size(); ++item) {
    if (found.count == 0 && nanCounts_[item] > 0) {
      found.layer = static_cast<int32_t>(item / ranks);
      found.rank = first + static_cast<int32_t>(item % ranks);
      found.token = 0;
      while (nanIn(found.layer, found.rank, found.token) == 0) ++found.token;
    }
    found.count += nanCounts_[item];
  }
  return found;
}

bool CpuGroup::conclude(std::span<RankNotes> notes) {
  const RunState& state = shared_.state;
  if (!state.member) return true;
  state.at({Activity::ending, {}, -1, state.frame.step});
  shared_.peers->report(state.member->rank).notes = notes[static_cast<size_t>(state.member->rank)];
  const bool whole = shared_.peers->settle(false);
  shared_.peers->throwIfLost();
  if (!whole) return false;
  for (int r = 0; r < shared_.config.ranks; ++r)
    notes[static_cast<size_t>(r)] = shared_.peers->report(r).notes;
  return true;
}

std::vector<Place> CpuGroup::places() const {
  std::vector<Place> places;
  for (const Beacon* beacon : beacons_) places.push_back(beacon->seen());
  return places;
}

RankMetadata CpuGroup::metadata(int id) { return metadataOf(id, 0); }

RankMetadata CpuGroup::draftMetadata(int id) { return metadataOf(id, shared_.config.layers); }

RankMetadata CpuGroup::metadataOf(int id, int layer) {
  const Shape& s = shared_.shape;
  const Metadata& from = rank(id).metadata(layer);
  RankMetadata data;
  for (int r = 0; r < s.requests; ++r) {
    data.globals.push_back(static_cast<int32_t>(from.globalLength(r)));
    data.lengths.push_back(static_cast<int32_t>(from.localLength(r)));
    data.pageBegin.push_back(static_cast<int64_t>(data.pageIds.size()));
    data.columns.push_back(from.columns(r));
    data.pageIds.insert(data.pageIds.end(), from.pages(r), from.pages(r) + from.columns(r));
  }
  data.slots.assign(from.slots().data(), from.slots().data() + s.tokens);
  return data;
}

void CpuGroup::copyPages(int id, int layer, std::span<const int32_t> ids, unsigned char* to) {
  const int64_t page = static_cast<int64_t>(shared_.config.pageSize) * shared_.shape.cacheRowBytes;
  for (const int32_t from : ids) {
    std::memcpy(to, rank(id).pool(layer) + from * page, static_cast<size_t>(page));
    to += page;
  }
}

GroupFacts CpuGroup::facts() {
  const char* ranks = shared_.state.member ? "processes and read the steady clock of their machine"
                                           : "threads of one process and read one steady clock";
  return {std::string("ranks are ") + ranks, 0, shared_.code.simd};
}

}  // namespace dcpscope
