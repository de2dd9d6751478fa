#pragma once
#include <cstdint>
#include <vector>

#include "core/branch.h"
#include "core/config.h"
#include "core/run_state.h"
#include "cuda/stamp.h"

/** Order of the kernels of a step on the device, and the lanes of the ranks made of their stamps. No CUDA. */
namespace dcpscope::cuda {

/** One stamped piece of work of one rank. Most stages are one; an all-to-all packs, then exchanges. */
struct Work {
  int32_t layer;
  Stage stage;
  int32_t rank;
  /** 0, or 1 for the exchange of an all-to-all. */
  int32_t part = 0;
  /** Part of a collective: it moves data when all ranks have come to it. */
  bool meets = false;
  /** Of metadata: a branch is refreshed. Else the keys that a layer chooses become slots. */
  bool refreshes = false;
};

/** Ranks first .. end - 1 of a group. */
struct RankRange {
  int first;
  int end;

  int count() const { return end - first; }
};

/**
 * All work of a step that ranks of one device do, in the order of the device: between two collectives a rank
 * does its stages one after the other before the next rank begins. Every rank has the same sequence of
 * stages. `splitCombine` is stamped by the attention kernel before it in the list.
 */
std::vector<Work> workOrder(const Config& config, RankRange ranks);
inline std::vector<Work> workOrder(const Config& config) { return workOrder(config, {0, config.ranks}); }

/** Work `begin` to before `end` of a step: that of the layers that take one branch. */
struct BranchWork {
  Branch branch;
  size_t begin;
  size_t end;
};
/** In the order of the step: that of the draft, where there is one, and that of the model. */
std::vector<BranchWork> workOfBranches(const Config& config, const std::vector<Work>& order);

/** Collectives of a rank in a step. */
int32_t collectivesOf(const std::vector<Work>& order, int rank);
/** The first work from `at` on in which ranks meet; how much work there is where none follows. */
size_t nextMeeting(const std::vector<Work>& order, size_t at);

/** How partials go from rank to rank: by copies where ranks take turns on a GPU; by NCCL, or right out of the
 * memory of peers, where each rank has a process of its own; not at all where there is one rank. */
enum class Means { none, copies, nccl, peers };

inline Means meansOf(const Config& c) {
  if (c.ranks == 1) return Means::none;
  if (!c.processes) return Means::copies;
  return c.comm == Comm::p2p ? Means::peers : Means::nccl;
}

/** Whether each rank has to collect the other ranks' query heads. */
inline bool gathersQueries(const Config& c) { return c.ranks > 1 && !c.replicateQ; }

/** Whether partials go on through a transport; else attention writes merged rows itself. */
inline bool hasTransport(const Config& c) { return c.ranks > 1; }

/** Bytes and operations of a stage, by formula. */
struct Cost {
  int64_t bytes = 0;
  int64_t flops = 0;
};

/** First and last of the stamps of one kernel, on the device's clock; 0 when no block ran. */
struct Hull {
  uint64_t begin = 0;
  uint64_t end = 0;
};

Hull hullOf(const Stamp* stamps);

/** Whether a kernel began and gave up, as one does that waits in vain for another rank. */
bool gaveUp(const Stamp* stamps);

/** One span of a rank, times from the beginning of the step. */
struct LaneSpan {
  int32_t layer;
  Stage stage;
  int64_t start;
  int64_t duration;
  /** Order among the collectives of the step, -1 for none. */
  int32_t collective = -1;
  int64_t enter = -1;
  int64_t lastEnter = -1;
  /** Index in the order of work, for costs. */
  int32_t work;
};

struct Lanes {
  /** By rank, in order. */
  std::vector<std::vector<LaneSpan>> spans;
  /** By work: where what it did on the device begins in the lane of its rank, behind any waiting. */
  std::vector<int64_t> begins;
  /** Until the last rank has ended. */
  int64_t wall = 0;
};

/**
 * Places the ranks' work as if each rank had a device of its own: every lane begins with the step; work takes
 * what it took on the device, up to the beginning of what came next there; a collective is entered when the
 * rank gets to it and moves data when the last rank has entered.
 *
 * `hulls` belong to `order`; `interrupted[i]` says that something that is not part of a step (a copy for a
 * capture) followed work i on the device.
 */
Lanes makeLanes(const std::vector<Work>& order, const std::vector<Hull>& hulls,
                const std::vector<bool>& interrupted, int ranks);

/**
 * The one lane of a rank with a device of its own: work is where it was, from the beginning of the first.
 * Work takes what it took, and a collective begins when the rank gets to it, with whatever waiting it has;
 * `lastEnter` is `enter` until the other ranks are asked. `hulls` belong to `order`.
 */
Lanes ownLane(const std::vector<Work>& order, const std::vector<Hull>& hulls);

/** When the last rank begins the first layer of the model, from the beginning of the step. */
int64_t firstLayerAt(const std::vector<Work>& order, const Lanes& lanes);

}  // namespace dcpscope::cuda
