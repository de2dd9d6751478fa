#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/block.h"
#include "core/branch.h"
#include "core/clock.h"
#include "core/config.h"
#include "core/faults.h"
#include "core/member.h"
#include "core/pages.h"
#include "core/place.h"
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

/** What a run and its group share, apart from any device. Written between steps only, except `traces`: those
 * of the ranks of this process. */
struct RunState {
  RunState(const Config& c, const RingSizes& rings, std::optional<Member> m = std::nullopt)
      : config(c),
        member(std::move(m)),
        shape(config),
        faults(config.faults),
        clock(member ? Clock(member->clockBase) : Clock()),
        pages(config, shape) {
    if (config.draft) draftPages.emplace(config, shape, PoolOf::draft);
    frame.before = Block<int64_t>(shape.requests);
    frame.after = Block<int64_t>(shape.requests);
    for (int r = firstRank(); r < endRank(); ++r) traces.push_back(std::make_unique<RankTrace>(rings));
  }

  /** Ranks that this process computes: all, or the one that it is. */
  int firstRank() const { return member ? member->rank : 0; }
  int endRank() const { return member ? member->rank + 1 : config.ranks; }
  /** Whether this process records what concerns the whole group. */
  bool leads() const { return firstRank() == 0; }

  /** Whose pages a layer has. */
  const PageTable& pagesOf(int layer) const { return isDraft(config, layer) ? *draftPages : pages; }

  RankTrace& trace(int rank) { return *traces[static_cast<size_t>(rank - firstRank())]; }
  /** Whoever asks whether to stop also shows that it goes on. */
  bool cancelled() const {
    if (beacon != nullptr) beacon->beat();
    return __atomic_load_n(&cancel, __ATOMIC_RELAXED) != 0;
  }
  /** Says where this process is, where others watch it. */
  void at(const Place& place) const {
    if (beacon != nullptr) beacon->show(place);
  }
  bool captures(int layer) const { return frame.captured && contains(config.captureLayers, layer); }

  static bool contains(const std::vector<int>& list, int value) {
    return std::find(list.begin(), list.end(), value) != list.end();
  }

  const Config config;
  const std::optional<Member> member;
  const Shape shape;
  const Faults faults;
  const Clock clock;
  PageTable pages;
  /** Of a draft, whose pool is its own. */
  std::optional<PageTable> draftPages;
  StepFrame frame;
  std::vector<std::unique_ptr<RankTrace>> traces;
  /** Names of recorded kernels, copies and fills; only ever appended. */
  std::vector<std::string> kernelNames;
  /** Non-zero stops all work soon. */
  int cancel = 0;
  /** Of a rank with a process of its own. */
  Beacon* beacon = nullptr;
};

}  // namespace dcpscope
