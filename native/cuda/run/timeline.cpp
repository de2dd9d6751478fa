#include "cuda/run/timeline.h"

#include <algorithm>
#include <set>

namespace dcpscope::cuda {
namespace {

void addRefresh(RankRange ranks, int layer, std::vector<Work>& order) {
  for (int r = ranks.first; r < ranks.end; ++r) order.push_back({layer, Stage::metadata, r, 0, false, true});
}

void addAttention(const Config& c, RankRange ranks, int layer, std::vector<Work>& order) {
  for (int r = ranks.first; r < ranks.end; ++r) {
    if (c.topk > 0) order.push_back({layer, Stage::metadata, r});
    if (gathersQueries(c)) order.push_back({layer, Stage::qAllGather, r, 0, true});
    for (const Stage stage : {Stage::kvAppend, Stage::decodeAttn, Stage::splitCombine, Stage::neutralize})
      order.push_back({layer, stage, r});
    if (hasTransport(c) && c.comm == Comm::a2a) order.push_back({layer, Stage::outAllToAll, r, 0, true});
  }
}

void addTransport(const Config& c, RankRange ranks, int layer, std::vector<Work>& order) {
  if (!hasTransport(c)) return;
  for (int r = ranks.first; r < ranks.end; ++r) {
    switch (c.comm) {
      case Comm::agRs:
        order.push_back({layer, Stage::lseAllGather, r, 0, true});
        order.push_back({layer, Stage::lseCorrect, r});
        break;
      case Comm::a2a:
        order.push_back({layer, Stage::outAllToAll, r, 1, true});
        order.push_back({layer, Stage::merge, r});
        break;
      case Comm::p2p:
        order.push_back({layer, Stage::merge, r, 0, true});
    }
  }
  if (c.comm == Comm::agRs)
    for (int r = ranks.first; r < ranks.end; ++r)
      order.push_back({layer, Stage::outReduceScatter, r, 0, true});
}

/** What one piece of work took, and how long until the next on the device began. */
struct Took {
  int64_t duration = 0;
  int64_t slot = 0;
};

std::vector<Took> measure(const std::vector<Work>& order, const std::vector<Hull>& hulls,
                          const std::vector<bool>& interrupted) {
  std::vector<Took> took(order.size());
  uint64_t next = 0;
  for (size_t i = order.size(); i-- > 0;) {
    const Hull& hull = hulls[i];
    if (hull.begin == 0) continue;
    Took& own = took[i];
    own.duration = static_cast<int64_t>(hull.end - hull.begin);
    own.slot = own.duration;
    if (next > hull.begin && !interrupted[i])
      own.slot = std::max(own.slot, static_cast<int64_t>(next - hull.begin));
    // Dealing out the work of attention belongs to it and is not stamped.
    if (order[i].refreshes) own.duration = own.slot;
    next = hull.begin;
  }
  return took;
}

/** The combine is part of the attention kernel: it begins where attending ends. */
std::vector<Hull> withoutOverlap(const std::vector<Work>& order, std::vector<Hull> hulls) {
  for (size_t i = 1; i < order.size(); ++i) {
    if (order[i].stage != Stage::splitCombine || hulls[i].begin == 0) continue;
    hulls[i].begin = std::max(hulls[i].begin, hulls[i - 1].end);
    if (hulls[i].end <= hulls[i].begin) hulls[i] = {};
  }
  return hulls;
}

class LaneMaker {
 public:
  LaneMaker(const std::vector<Work>& order, const std::vector<Took>& took, int ranks)
      : order_(order),
        took_(took),
        own_(static_cast<size_t>(ranks)),
        time_(own_.size()),
        enters_(own_.size()) {
    for (size_t i = 0; i < order.size(); ++i)
      own_[static_cast<size_t>(order[i].rank)].push_back(static_cast<int32_t>(i));
    lanes_.spans.resize(own_.size());
    lanes_.begins.resize(order.size());
  }

  Lanes make() {
    for (size_t at = 0; at < own_[0].size(); ++at) place(at);
    lanes_.wall = *std::max_element(time_.begin(), time_.end());
    return lanes_;
  }

 private:
  void place(size_t at) {
    const Work& work = order_[static_cast<size_t>(own_[0][at])];
    if (!work.meets) return placeAlone(at);
    if (work.part == 0) enters_ = time_;
    const bool packs = work.stage == Stage::outAllToAll && work.part == 0;
    if (packs)
      for (size_t r = 0; r < own_.size(); ++r) {
        const auto id = static_cast<size_t>(own_[r][at]);
        lanes_.begins[id] = time_[r];
        time_[r] += took_[id].slot;
      }
    else
      placeTogether(at);
  }

  void placeAlone(size_t at) {
    for (size_t r = 0; r < own_.size(); ++r) {
      const int32_t id = own_[r][at];
      const Took& took = took_[static_cast<size_t>(id)];
      const Work& work = order_[static_cast<size_t>(id)];
      lanes_.begins[static_cast<size_t>(id)] = time_[r];
      if (work.stage != Stage::splitCombine || took.duration > 0)
        lanes_.spans[r].push_back({work.layer, work.stage, time_[r], took.duration, -1, -1, -1, id});
      time_[r] += took.slot;
    }
  }

  void placeTogether(size_t at) {
    const int64_t lastEnter = *std::max_element(enters_.begin(), enters_.end());
    const int64_t ready = *std::max_element(time_.begin(), time_.end());
    for (size_t r = 0; r < own_.size(); ++r) {
      const int32_t id = own_[r][at];
      const Took& took = took_[static_cast<size_t>(id)];
      const Work& work = order_[static_cast<size_t>(id)];
      lanes_.spans[r].push_back({work.layer, work.stage, enters_[r], ready + took.duration - enters_[r],
                                 collectives_, enters_[r], lastEnter, id});
      lanes_.begins[static_cast<size_t>(id)] = ready;
      time_[r] = ready + took.slot;
    }
    ++collectives_;
  }

  const std::vector<Work>& order_;
  const std::vector<Took>& took_;
  /** Indices of each rank's work. */
  std::vector<std::vector<int32_t>> own_;
  /** Where each lane has got to, and where it entered the current collective. */
  std::vector<int64_t> time_;
  std::vector<int64_t> enters_;
  int32_t collectives_ = 0;
  Lanes lanes_;
};

}  // namespace

std::vector<Work> workOrder(const Config& c, RankRange ranks) {
  std::vector<Work> order;
  eachLayer(c, [&](int layer) {
    if (isDraft(c, layer)) addRefresh(ranks, layer, order);
    if (layer == 0) addRefresh(ranks, -1, order);
    addAttention(c, ranks, layer, order);
    addTransport(c, ranks, layer, order);
    if ((c.restOfLayerBytes > 0 || c.restOfLayerFlops > 0) && !isDraft(c, layer))
      for (int r = ranks.first; r < ranks.end; ++r) order.push_back({layer, Stage::restOfLayer, r});
  });
  return order;
}

std::vector<BranchWork> workOfBranches(const Config& c, const std::vector<Work>& order) {
  const auto isOfModel = [&](const Work& work) { return !isDraft(c, work.layer); };
  const auto model = static_cast<size_t>(std::find_if(order.begin(), order.end(), isOfModel) - order.begin());
  std::vector<BranchWork> branches;
  if (c.draft) branches.push_back({Branch::draftExtend, 0, model});
  branches.push_back({modelBranch(c), model, order.size()});
  return branches;
}

int32_t collectivesOf(const std::vector<Work>& order, int rank) {
  return static_cast<int32_t>(std::count_if(order.begin(), order.end(), [rank](const Work& work) {
    return work.rank == rank && work.meets && work.part == 0;
  }));
}

size_t nextMeeting(const std::vector<Work>& order, size_t at) {
  while (at < order.size() && !order[at].meets) ++at;
  return at;
}

Hull hullOf(const Stamp* stamps) {
  Hull hull;
  for (int i = 0; i < kStamps; ++i) {
    if (stamps[i].begin == 0) continue;
    hull.begin = hull.begin == 0 ? stamps[i].begin : std::min(hull.begin, stamps[i].begin);
    hull.end = std::max(hull.end, stamps[i].end);
  }
  return hull;
}

bool gaveUp(const Stamp* stamps) {
  return std::any_of(stamps, stamps + kStamps, [](const Stamp& s) { return s.begin > 0 && s.end == 0; });
}

Lanes makeLanes(const std::vector<Work>& order, const std::vector<Hull>& hulls,
                const std::vector<bool>& interrupted, int ranks) {
  const std::vector<Took> took = measure(order, withoutOverlap(order, hulls), interrupted);
  return LaneMaker(order, took, ranks).make();
}

Lanes ownLane(const std::vector<Work>& order, const std::vector<Hull>& stamped) {
  const std::vector<Hull> hulls = withoutOverlap(order, stamped);
  const std::vector<Took> took = measure(order, hulls, std::vector<bool>(order.size(), false));
  const uint64_t first = hulls.front().begin;
  Lanes lanes;
  lanes.spans.resize(1);
  lanes.begins.resize(order.size());
  std::vector<LaneSpan>& spans = lanes.spans[0];
  int32_t collectives = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    const Work& work = order[i];
    if (hulls[i].begin == 0) {
      lanes.begins[i] = lanes.wall;
      continue;
    }
    // Blocks of a kernel may begin before the last ones of the kernel before it have ended.
    const int64_t start = std::max(static_cast<int64_t>(hulls[i].begin - first), lanes.wall);
    const int64_t end = std::max(static_cast<int64_t>(hulls[i].begin - first) + took[i].duration, start);
    LaneSpan span{work.layer, work.stage, start, end - start, -1, -1, -1, static_cast<int32_t>(i)};
    lanes.begins[i] = start;
    lanes.wall = end;
    if (work.meets && work.part == 0) {
      span.collective = collectives++;
      span.enter = span.lastEnter = start;
    }
    // The exchange of an all-to-all goes on with what its pack began.
    if (work.part > 0)
      spans.back().duration = end - spans.back().start;
    else
      spans.push_back(span);
  }
  return lanes;
}

int64_t firstLayerAt(const std::vector<Work>& order, const Lanes& lanes) {
  int64_t at = 0;
  std::set<int32_t> begun;
  for (size_t i = 0; i < order.size(); ++i)
    if (order[i].layer == 0 && begun.insert(order[i].rank).second) at = std::max(at, lanes.begins[i]);
  return at;
}

}  // namespace dcpscope::cuda
