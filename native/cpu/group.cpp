#include "cpu/group.h"

#include <algorithm>
#include <cstring>
#include <limits>

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

class Cpu final : public Device {
 public:
  int threads(const Config& config) const override { return std::max(config.ranks, usableCores()); }

  std::vector<MemoryComponent> memory(const Config& config) const override {
    const Shape shape(config);
    const Rank::Bytes rank = Rank::bytes(config, shape, AttentionPlan(config, shape));
    const int64_t ranks = config.ranks;
    return {{"kv_pages", ranks * rank.pool},
            {"queries", ranks * rank.queries},
            {"partials", ranks * rank.partials},
            {"merged", ranks * rank.merged},
            {"inputs", Inputs::bytes(config, shape)},
            {"page_tables", ranks * rank.tables},
            {"workspace", threadBytes(shape, threads(config)) + ranks * config.layers * 8},
            {"rest_of_layer", restBufferBytes(config)}};
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
    : shared_(state, usableCores()),
      pool_(pool),
      nanCounts_(static_cast<int64_t>(state.config.layers) * state.config.ranks) {
  const int ranks = state.config.ranks;
  for (int r = 0; r < ranks; ++r)
    shared_.ranks.push_back(std::make_unique<Rank>(shared_, r, teamOf(r, ranks, pool.threads())));
  for (int i = 0; i < pool.threads(); ++i) scratch_.push_back(std::make_unique<ThreadScratch>(shared_.shape));
}

FillSizes CpuGroup::fillSizes() const { return {kFillTokens, 16 * static_cast<int64_t>(pool_.threads())}; }

void CpuGroup::fill(std::span<const FillPiece> pieces) {
  pool_.forEach(static_cast<int64_t>(pieces.size()), [&](int, int64_t i) {
    const FillPiece& piece = pieces[static_cast<size_t>(i)];
    for (auto& rank : shared_.ranks) rank->fill(piece.layer, piece.request, piece.first, piece.last);
  });
}

StepTimes CpuGroup::step() {
  const int ranks = shared_.config.ranks;
  shared_.inputs.make(pool_, shared_.frame.before.data());
  pool_.each([&](int thread) {
    ThreadScratch& scratch = *scratch_[static_cast<size_t>(thread)];
    if (thread < ranks)
      rank(thread).run(scratch);
    else
      rank((thread - ranks) % ranks).help(scratch);
  });
  int64_t begin = std::numeric_limits<int64_t>::max();
  int64_t end = 0;
  for (const auto& rank : shared_.ranks) {
    begin = std::min(begin, rank->began);
    end = std::max(end, rank->ended);
  }
  // All ranks run at once, so the device is busy for the whole step.
  return {begin, end - begin, end - begin};
}

const unsigned char* CpuGroup::merged(int layer, int rank, int token) {
  const Shape& s = shared_.shape;
  return this->rank(rank).merged(layer) +
         static_cast<int64_t>(token) * s.headsPerRank * s.valueDim * s.valueBytes;
}

int64_t CpuGroup::nanIn(int layer, int rank, int token) {
  RowStats stats;
  shared_.code.rows.stats(merged(layer, rank, token), shared_.bf16(),
                          shared_.shape.headsPerRank * shared_.shape.valueDim, stats);
  return stats.nan;
}

MergedNan CpuGroup::findNan() {
  const int ranks = shared_.config.ranks;
  pool_.forEach(nanCounts_.size(), [&](int, int64_t item) {
    nanCounts_[item] = 0;
    for (int t = 0; t < shared_.shape.tokens && !shared_.cancelled(); ++t)
      nanCounts_[item] += nanIn(static_cast<int>(item / ranks), static_cast<int>(item % ranks), t);
  });
  MergedNan found;
  for (int64_t item = 0; item < nanCounts_.size(); ++item) {
    if (found.count == 0 && nanCounts_[item] > 0) {
      found.layer = static_cast<int32_t>(item / ranks);
      found.rank = static_cast<int32_t>(item % ranks);
      found.token = 0;
      while (nanIn(found.layer, found.rank, found.token) == 0) ++found.token;
    }
    found.count += nanCounts_[item];
  }
  return found;
}

RankMetadata CpuGroup::metadata(int id) {
  const Shape& s = shared_.shape;
  Rank& from = rank(id);
  RankMetadata data;
  for (int r = 0; r < s.requests; ++r) {
    data.lengths.push_back(static_cast<int32_t>(from.localLength(r)));
    data.pageBegin.push_back(static_cast<int64_t>(data.pageIds.size()));
    data.pageIds.insert(data.pageIds.end(), from.blockTable(r),
                        from.blockTable(r) + shared_.pages.columns(r));
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
  return {"ranks are threads of one process and read one steady clock", 0, shared_.code.simd};
}

}  // namespace dcpscope
