#include "run/budget.h"

#include <algorithm>

#include "core/branch.h"
#include "core/capture.h"
#include "core/deal.h"
#include "cpu/check.h"

namespace dcpscope {
namespace {

/** Rows that a ring holds at least, where the run is that long. */
constexpr int64_t kRingRows = 32768;
/** Spans kept free for stalls between steps. */
constexpr int64_t kStallSpans = 64;
/** Stages of a layer that can leave a span, and those of a branch of metadata: the refresh and the replay of
 * its graph. */
constexpr int64_t kSpansPerLayer = 10;
constexpr int64_t kSpansPerBranch = 2;
/** Kinds of events that a step has once, and what a captured layer may leave out: pages and reference. */
constexpr int64_t kEventKinds = 8;
constexpr int64_t kEventsPerCapture = 2;
/** Kernels, copies and fills of one stage, with those of a capture. */
constexpr int64_t kKernelsPerSpan = 4;

int64_t ringRows(int64_t perStep, int64_t steps) {
  const int64_t wanted = std::max<int64_t>(kRingRows / std::max<int64_t>(perStep, 1), 1);
  return perStep * std::min(wanted, steps);
}

/**
 * Cells that change in one step at most after the first, a rank: the grown one and those begun. Where tokens
 * are dealt out anew, one rank may take a block of all new tokens, up to two columns ahead of another.
 */
int64_t pagesPerStep(const Config& c, const Shape& s) {
  const int64_t virtualPage = static_cast<int64_t>(c.pageSize) * (c.restarts ? 1 : c.ranks);
  return s.requests * ((c.qLen + virtualPage - 1) / virtualPage + (c.restarts ? 3 : 1));
}

int64_t ringBytes(const Config& c) {
  const RingSizes sizes = ringSizes(c);
  const int64_t perRank = sizes.spans * rowBytes(spanColumns()) + sizes.rows * rowBytes(queryRowColumns()) +
                          sizes.pages * rowBytes(pageColumns()) + sizes.kernels * rowBytes(kernelColumns());
  const int64_t processes = c.processes ? c.ranks : 1;
  return c.ranks * perRank +
         processes * (kStepRows * rowBytes(stepColumns()) + kEventRows * rowBytes(eventColumns()));
}

}  // namespace

int64_t spansPerStep(const Config& config) {
  return kSpansPerBranch * branchesOf(config) + kSpansPerLayer * allLayers(config);
}

int64_t eventsPerStep(const Config& config) {
  return kEventKinds + config.ranks + kEventsPerCapture * static_cast<int64_t>(capturedLayers(config).size());
}

int64_t kernelsPerStep(const Config& config) { return kKernelsPerSpan * spansPerStep(config); }

RingSizes ringSizes(const Config& c) {
  const Shape s(c);
  const int64_t rows = static_cast<int64_t>(allLayers(c)) * s.tokens;
  int64_t firstPages = 0;
  for (int r = 0; r < s.requests; ++r)
    firstPages += dealOf(c, r).columns(contextAt(c, r, 0) + c.qLen, c.pageSize);
  return {ringRows(spansPerStep(c), c.steps) + kStallSpans, ringRows(rows, c.steps),
          firstPages + ringRows(pagesPerStep(c, s), c.steps), c.kernelSteps.empty() ? 0 : kernelsPerStep(c)};
}

std::vector<MemoryComponent> predictMemory(const Config& config, const Device& device) {
  validate(config);
  const Shape shape(config);
  std::vector<MemoryComponent> all = device.memory(config);
  const int64_t processes = config.processes ? config.ranks : 1;
  all.push_back({"block_table", processes * (config.draft ? 2 : 1) * PageTable::bytes(shape)});
  all.push_back({"reference", Checker::bytes(shape, device.threads(config))});
  all.push_back({"rings", ringBytes(config)});
  all.push_back({"capture", captureBytes(config, shape)});
  return all;
}

}  // namespace dcpscope
