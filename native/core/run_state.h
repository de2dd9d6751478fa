#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/block.h"
#include "core/clock.h"
#include "core/config.h"
#include "core/pages.h"
#include "core/rank_trace.h"

namespace dcpscope {

/** The step that all ranks work on. */
struct StepFrame {
  /** Traced step; warm-up runs as step 0. */
  int step = 0;
  bool traced = false;
  bool captured = false;
  /** Its kernels are to be recorded. */
  bool kernels = false;
  /** Per request: length before and after the new tokens. */
  Block<int64_t> before;
  Block<int64_t> after;
};

/** What a run and its group share, apart from any device. Written between steps only, except `traces`. */
struct RunState {
  RunState(const Config& c, const RingSizes& rings) : config(c), shape(config), pages(config, shape) {
    frame.before = Block<int64_t>(shape.requests);
    frame.after = Block<int64_t>(shape.requests);
    for (int r = 0; r < config.ranks; ++r) traces.push_back(std::make_unique<RankTrace>(rings));
  }

  RankTrace& trace(int rank) { return *traces[static_cast<size_t>(rank)]; }
  bool cancelled() const { return __atomic_load_n(&cancel, __ATOMIC_RELAXED) != 0; }
  bool captures(int layer) const { return frame.captured && contains(config.captureLayers, layer); }

  static bool contains(const std::vector<int>& list, int value) {
    return std::find(list.begin(), list.end(), value) != list.end();
  }

  const Config config;
  const Shape shape;
  const Clock clock;
  PageTable pages;
  StepFrame frame;
  std::vector<std::unique_ptr<RankTrace>> traces;
  /** Names of recorded kernels, copies and fills; only ever appended. */
  std::vector<std::string> kernelNames;
  /** Non-zero stops all work soon. */
  int cancel = 0;
};

}  // namespace dcpscope
