#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "cuda/run/costs.h"
#include "cuda/run/timeline.h"
#include "tests/expect.h"
#include "tests/tests.h"

namespace dcpscope::tests {
namespace {

using cuda::Hull;
using cuda::Lanes;
using cuda::LaneSpan;
using cuda::Work;

Config twoRanks(Comm comm) {
  Config config;
  config.ranks = 2;
  config.heads = 2;
  config.comm = comm;
  config.layers = 1;
  config.contextLens = {100};
  return config;
}

/** Kernels one after the other from time 1000 on: `took` by stage and rank, 10 unless named, 2 between them.
 */
struct Device {
  std::map<std::tuple<Stage, int, int>, int64_t> took;

  std::vector<Hull> run(const std::vector<Work>& order) const {
    std::vector<Hull> hulls;
    uint64_t now = 1000;
    for (const Work& work : order) {
      if (work.stage == Stage::splitCombine) {
        hulls.push_back({});
        continue;
      }
      const auto found = took.find({work.stage, work.rank, work.part});
      const int64_t duration = found == took.end() ? 10 : found->second;
      hulls.push_back({now, now + static_cast<uint64_t>(duration)});
      now += static_cast<uint64_t>(duration) + 2;
    }
    return hulls;
  }
};

Lanes lanesOf(const Config& config, const Device& device) {
  const std::vector<Work> order = cuda::workOrder(config);
  return cuda::makeLanes(order, device.run(order), std::vector<bool>(order.size(), false), config.ranks);
}

const LaneSpan& spanOf(const Lanes& lanes, int rank, Stage stage) {
  for (const LaneSpan& span : lanes.spans[static_cast<size_t>(rank)])
    if (span.stage == stage) return span;
  EXPECT(false);
  std::abort();
}

void everyRankHasTheStagesInOrder() {
  for (const Comm comm : {Comm::agRs, Comm::a2a, Comm::p2p})
    for (const int ranks : {1, 2, 5})
      for (const auto& [topk, draft] : {std::pair(0, false), {4, false}, {0, true}, {4, true}}) {
        Config config = twoRanks(comm);
        config.draft = draft;
        config.ranks = config.heads = ranks;
        config.topk = topk;
        config.layers = 3;
        config.restOfLayerBytes = 1;
        const Lanes lanes = lanesOf(config, {});
        for (const auto& spans : lanes.spans) {
          EXPECT(spans.size() == lanes.spans[0].size());
          int64_t end = 0;
          for (size_t i = 0; i < spans.size(); ++i) {
            EXPECT(spans[i].stage == lanes.spans[0][i].stage && spans[i].start >= end);
            end = spans[i].start + spans[i].duration;
            if (i == 0 || spans[i].layer != spans[i - 1].layer) continue;
            // The draft refreshes its branch, and then chooses keys.
            const bool chooses = spans[i].layer == config.layers && i == 1 && topk > 0;
            EXPECT(chooses ? spans[i].stage == Stage::metadata : spans[i].stage > spans[i - 1].stage);
          }
          EXPECT(end <= lanes.wall);
        }
      }
}

void lanesBeginTogetherAndWaitForEachOther() {
  Device device;
  device.took[{Stage::decodeAttn, 0, 0}] = 100;
  device.took[{Stage::decodeAttn, 1, 0}] = 40;
  const Lanes lanes = lanesOf(twoRanks(Comm::agRs), device);
  for (int r = 0; r < 2; ++r) EXPECT(spanOf(lanes, r, Stage::metadata).start == 0);
  // metadata 12, gather 12, append 12, attention, neutralize 12.
  const LaneSpan& first = spanOf(lanes, 0, Stage::lseAllGather);
  const LaneSpan& second = spanOf(lanes, 1, Stage::lseAllGather);
  EXPECT(first.enter == 4 * 12 + 102 && second.enter == 4 * 12 + 42);
  EXPECT(first.lastEnter == first.enter && second.lastEnter == first.enter);
  EXPECT(second.start == second.enter && second.duration == first.enter - second.enter + 10);
  EXPECT(first.start + first.duration == second.start + second.duration);
  EXPECT(first.collective == 1 && spanOf(lanes, 0, Stage::qAllGather).collective == 0);
  EXPECT(spanOf(lanes, 0, Stage::outReduceScatter).collective == 2);
}

void anAllToAllPacksThenExchanges() {
  Device device;
  device.took[{Stage::outAllToAll, 0, 0}] = 30;
  device.took[{Stage::outAllToAll, 0, 1}] = 7;
  device.took[{Stage::outAllToAll, 1, 1}] = 5;
  const Lanes lanes = lanesOf(twoRanks(Comm::a2a), device);
  for (int r = 0; r < 2; ++r) {
    const LaneSpan& span = spanOf(lanes, r, Stage::outAllToAll);
    EXPECT(span.enter == 5 * 12 && span.lastEnter == span.enter);
    // The slower pack and its gap, then the own exchange.
    EXPECT(span.duration == 32 + (r == 0 ? 7 : 5));
    EXPECT(spanOf(lanes, r, Stage::merge).start == span.start + span.duration + 2);
  }
}

void aP2pMergeIsACollective() {
  Device device;
  device.took[{Stage::decodeAttn, 1, 0}] = 50;
  const Lanes lanes = lanesOf(twoRanks(Comm::p2p), device);
  const LaneSpan& early = spanOf(lanes, 0, Stage::merge);
  const LaneSpan& late = spanOf(lanes, 1, Stage::merge);
  EXPECT(early.collective == 1 && late.collective == 1);
  EXPECT(late.enter - early.enter == 40 && early.lastEnter == late.enter && late.lastEnter == late.enter);
  EXPECT(early.duration == 50 && late.duration == 10);
}

/** A rank with a process of its own does its part of the list, and no other. */
void oneRankHasItsOwnWork() {
  for (const Comm comm : {Comm::agRs, Comm::a2a, Comm::p2p}) {
    Config config = twoRanks(comm);
    config.layers = 2;
    config.topk = 4;
    const std::vector<Work> own = cuda::workOrder(config, {1, 2});
    EXPECT(cuda::collectivesOf(own, 1) == 2 * (comm == Comm::agRs ? 3 : 2));
    EXPECT(cuda::collectivesOf(cuda::workOrder(config), 0) == cuda::collectivesOf(own, 1));
    std::vector<Work> wanted;
    for (const Work& work : cuda::workOrder(config))
      if (work.rank == 1) wanted.push_back(work);
    EXPECT(own.size() == wanted.size());
    for (size_t i = 0; i < own.size(); ++i)
      EXPECT(own[i].layer == wanted[i].layer && own[i].stage == wanted[i].stage && own[i].rank == 1 &&
             own[i].part == wanted[i].part && own[i].meets == wanted[i].meets);
  }
}

const LaneSpan& ownSpan(const Lanes& lanes, Stage stage) { return spanOf(lanes, 0, stage); }

void anOwnLaneIsWhatHappened() {
  const std::vector<Work> order = cuda::workOrder(twoRanks(Comm::agRs), {1, 2});
  Device device;
  device.took[{Stage::lseAllGather, 1, 0}] = 300;
  const std::vector<Hull> hulls = device.run(order);
  const Lanes lanes = cuda::ownLane(order, hulls);
  EXPECT(lanes.spans.size() == 1);
  // metadata 12, gather 12, append 12, attention 12, neutralize 12.
  const LaneSpan& gather = ownSpan(lanes, Stage::lseAllGather);
  EXPECT(gather.start == 60 && gather.duration == 300 && gather.enter == 60 && gather.lastEnter == 60);
  EXPECT(gather.collective == 1 && ownSpan(lanes, Stage::outReduceScatter).collective == 2);
  EXPECT(ownSpan(lanes, Stage::lseCorrect).start == 362);
  EXPECT(lanes.wall == static_cast<int64_t>(hulls.back().end - hulls.front().begin));
  for (size_t i = 0; i < order.size(); ++i)
    if (hulls[i].begin > 0) EXPECT(lanes.begins[i] == static_cast<int64_t>(hulls[i].begin - 1000));
}

/** What packs and what exchanges is one collective; blocks of two kernels may overlap. */
void anOwnLaneHasOneSpanForAnAllToAll() {
  const std::vector<Work> order = cuda::workOrder(twoRanks(Comm::a2a), {0, 1});
  std::vector<Hull> hulls = Device().run(order);
  for (size_t i = 0; i < order.size(); ++i)
    if (order[i].stage == Stage::merge) hulls[i].begin -= 5;
  const Lanes lanes = cuda::ownLane(order, hulls);
  const LaneSpan& exchange = ownSpan(lanes, Stage::outAllToAll);
  EXPECT(exchange.start == 60 && exchange.duration == 22 && exchange.enter == 60);
  const LaneSpan& merge = ownSpan(lanes, Stage::merge);
  EXPECT(merge.collective == -1 && merge.start == 82 && merge.duration == 7 + 5);
  EXPECT(lanes.wall == 94);
}

void aCombineBeginsWhereAttendingEnds() {
  Config config = twoRanks(Comm::agRs);
  config.ranks = config.heads = 1;
  const std::vector<Work> order = cuda::workOrder(config);
  std::vector<Hull> hulls;
  for (const Work& work : order) {
    if (work.stage == Stage::decodeAttn) hulls.push_back({100, 150});
    if (work.stage == Stage::splitCombine) hulls.push_back({130, 160});
    if (work.stage == Stage::neutralize) hulls.push_back({170, 180});
    if (work.stage == Stage::metadata) hulls.push_back({10, 20});
    if (work.stage == Stage::kvAppend) hulls.push_back({50, 60});
  }
  std::vector<bool> interrupted(order.size(), false);
  const Lanes lanes = cuda::makeLanes(order, hulls, interrupted, 1);
  const LaneSpan& combine = spanOf(lanes, 0, Stage::splitCombine);
  EXPECT(combine.duration == 10 && combine.start == 140);
  EXPECT(spanOf(lanes, 0, Stage::neutralize).start == 160 && lanes.wall == 170);
  // Metadata lasts until the next kernel begins: dealing out the work is part of it.
  EXPECT(spanOf(lanes, 0, Stage::metadata).duration == 40);
  // Copies for a capture stood behind the append.
  interrupted[1] = true;
  EXPECT(spanOf(cuda::makeLanes(order, hulls, interrupted, 1), 0, Stage::decodeAttn).start == 50);
}

void hullsLeaveOutBlocksThatDidNotRun() {
  std::vector<cuda::Stamp> stamps(cuda::kStamps, {0, 0});
  EXPECT(cuda::hullOf(stamps.data()).begin == 0);
  stamps[3] = {70, 90};
  stamps[5] = {60, 80};
  EXPECT(cuda::hullOf(stamps.data()).begin == 60 && cuda::hullOf(stamps.data()).end == 90);
}

void aKernelThatGaveUpHasBlocksWithoutEnd() {
  std::vector<cuda::Stamp> stamps(cuda::kStamps, {0, 0});
  EXPECT(!cuda::gaveUp(stamps.data()));
  stamps[0] = {70, 90};
  EXPECT(!cuda::gaveUp(stamps.data()));
  stamps[5] = {60, 0};
  EXPECT(cuda::gaveUp(stamps.data()));
}

void ranksMeetNextInTheCollectiveAhead() {
  const std::vector<Work> order = cuda::workOrder(twoRanks(Comm::a2a), {0, 1});
  const auto stageAfter = [&](Stage stage) {
    const auto is = [&](const Work& work) { return work.stage == stage; };
    const auto at = static_cast<size_t>(std::find_if(order.begin(), order.end(), is) - order.begin());
    const size_t next = cuda::nextMeeting(order, at);
    return next == order.size() ? Stage::graphReplay : order[next].stage;
  };
  EXPECT(stageAfter(Stage::metadata) == Stage::qAllGather);
  EXPECT(stageAfter(Stage::decodeAttn) == Stage::outAllToAll);
  // What runs when it is broken off has not ended.
  EXPECT(stageAfter(Stage::outAllToAll) == Stage::outAllToAll);
  EXPECT(cuda::nextMeeting(order, order.size() - 1) == order.size());
}

void costsFollowTheKeysThatKernelsSaw() {
  Config config = twoRanks(Comm::agRs);
  config.contextLens = {3, 0};
  config.rowStats = false;
  config.kvType = KvType::fp8;
  RunState state(config, {1, 1, 1});
  state.frame.before[0] = 3;
  state.frame.after[0] = 4;
  state.frame.before[1] = 0;
  state.frame.after[1] = 1;
  const int32_t lengths[] = {2, 0};
  const int32_t bounds[] = {2, 0};
  const auto cost = [&](Stage stage) { return cuda::costOf(state, {0, stage, 1}, {lengths, bounds}, false); };
  EXPECT(cost(Stage::decodeAttn).bytes == 2 * 576);
  EXPECT(cost(Stage::decodeAttn).flops == 2 * 2 * (576 + 512) * 2);
  // Rank 1 owns token 3 of the first request, and not token 0 of the second.
  EXPECT(cost(Stage::kvAppend).bytes == 576);
  // One row sees no key.
  EXPECT(cost(Stage::neutralize).bytes == 2 * (512 * 2 + 4));
  EXPECT(cost(Stage::lseAllGather).bytes == 2 * 2 * 4);
  // Of two tokens a head each: slices and lse of both ranks are received, or read from one peer.
  EXPECT(cost(Stage::merge).bytes == 2 * 2 * (512 * 2 + 4));
  config.comm = Comm::p2p;
  const RunState peers(config, {1, 1, 1});
  const cuda::Cost merge = cuda::costOf(peers, {0, Stage::merge, 1}, {lengths, bounds}, false);
  EXPECT(merge.bytes == 2 * (512 * 2 + 4) && merge.flops == 2 * 2 * 2 * 512);
}

/** All of the draft's work comes before all of the model's, on all ranks, and each begins with its metadata.
 */
void aDraftComesBeforeTheModel() {
  for (const Comm comm : {Comm::agRs, Comm::a2a, Comm::p2p}) {
    Config config = twoRanks(comm);
    config.layers = 2;
    config.qLen = 2;
    config.restOfLayerBytes = 1;
    const std::vector<Work> plain = cuda::workOrder(config);
    EXPECT(cuda::workOfBranches(config, plain).size() == 1);
    config.draft = true;
    const std::vector<Work> order = cuda::workOrder(config);
    const std::vector<cuda::BranchWork> branches = cuda::workOfBranches(config, order);
    EXPECT(branches.size() == 2 && branches[0].branch == Branch::draftExtend && branches[0].begin == 0);
    EXPECT(branches[1].branch == Branch::targetVerify && branches[1].begin == branches[0].end);
    EXPECT(branches[1].end == order.size() && order.size() - branches[1].begin == plain.size());
    for (size_t i = 0; i < order.size(); ++i) {
      const bool isOfDraft = i < branches[0].end;
      EXPECT(isOfDraft == (order[i].layer == config.layers));
      EXPECT(!isOfDraft || order[i].stage != Stage::restOfLayer);
      const size_t at = i - (isOfDraft ? 0 : branches[1].begin);
      EXPECT(order[i].refreshes == (at < 2));
      EXPECT(isOfDraft || (order[i].stage == plain[at].stage && order[i].rank == plain[at].rank));
    }
    // The model begins when the draft has ended and the model's metadata are there.
    const Lanes lanes = lanesOf(config, {});
    int64_t ready = 0;
    for (const auto& spans : lanes.spans)
      for (const LaneSpan& span : spans)
        if (span.layer < 0) ready = std::max(ready, span.start + span.duration);
    EXPECT(cuda::firstLayerAt(order, lanes) == ready);
  }
}

/** Metadata take as long as it takes until the device goes on. */
void layersBeginBehindTheSlowestMetadata() {
  const Config config = twoRanks(Comm::agRs);
  const std::vector<Work> order = cuda::workOrder(config);
  const Lanes lanes = lanesOf(config, {{{{Stage::metadata, 1, 0}, 50}}});
  EXPECT(cuda::firstLayerAt(order, lanes) == 52);
}

void neutralizeReadsAllRowsOnlyForStatistics() {
  Config config = twoRanks(Comm::agRs);
  config.contextLens = {3, 0};
  config.kvType = KvType::fp8;
  const int32_t lengths[] = {2, 0};
  const int32_t bounds[] = {2, 0};
  const RunState state(config, {1, 1, 1});
  const auto tokensOf = [&](bool reads) {
    return cuda::costOf(state, {0, Stage::neutralize, 0}, {lengths, bounds}, reads).bytes /
           (2 * (512 * 2 + 4));
  };
  EXPECT(tokensOf(true) == 2);
  EXPECT(tokensOf(false) == 1);
}

}  // namespace

void lanes() {
  everyRankHasTheStagesInOrder();
  lanesBeginTogetherAndWaitForEachOther();
  anAllToAllPacksThenExchanges();
  aP2pMergeIsACollective();
  oneRankHasItsOwnWork();
  anOwnLaneIsWhatHappened();
  anOwnLaneHasOneSpanForAnAllToAll();
  aCombineBeginsWhereAttendingEnds();
  hullsLeaveOutBlocksThatDidNotRun();
  aKernelThatGaveUpHasBlocksWithoutEnd();
  ranksMeetNextInTheCollectiveAhead();
  aDraftComesBeforeTheModel();
  layersBeginBehindTheSlowestMetadata();
  costsFollowTheKeysThatKernelsSaw();
  neutralizeReadsAllRowsOnlyForStatistics();
}

}  // namespace dcpscope::tests
