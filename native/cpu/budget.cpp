#include "cpu/budget.h"

#include <algorithm>

#include "core/layout.h"
#include "core/memory.h"
#include "cpu/check.h"
#include "cpu/run.h"

namespace dcpscope {
namespace {

/** Rows that a ring holds at least, where the run is that long. */
constexpr int64_t kRingRows = 32768;
/** Spans kept free for stalls between steps. */
constexpr int64_t kStallSpans = 64;

int64_t ringRows(int64_t perStep, int64_t steps) {
  const int64_t wanted = std::max<int64_t>(kRingRows / std::max<int64_t>(perStep, 1), 1);
  return perStep * std::min(wanted, steps);
}

/** Cells that change in one step at most after the first, a rank: the grown one and those begun. */
int64_t pagesPerStep(const Config& c, const Shape& s) {
  const int64_t virtualPage = static_cast<int64_t>(c.pageSize) * c.ranks;
  return s.requests * ((c.qLen + virtualPage - 1) / virtualPage + 1);
}

}  // namespace

int poolThreads(const Config& config) { return std::max(config.ranks, usableCores()); }

int teamOf(int rank, int ranks, int threads) {
  const int helpers = threads - ranks;
  return 1 + helpers / ranks + (rank < helpers % ranks ? 1 : 0);
}

RingSizes ringSizes(const Config& c, const Shape& s) {
  const int64_t rows = static_cast<int64_t>(c.layers) * s.tokens;
  int64_t firstPages = 0;
  for (int r = 0; r < s.requests; ++r)
    firstPages += layout::columns(contextAt(c, r, 0) + c.qLen, c.ranks, c.pageSize);
  return {ringRows(spansPerStep(c), c.steps) + kStallSpans, ringRows(rows, c.steps),
          firstPages + ringRows(pagesPerStep(c, s), c.steps)};
}

namespace {

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

}  // namespace dcpscope
