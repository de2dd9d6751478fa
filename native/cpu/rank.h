#pragma once
#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/block.h"
#include "core/fault_rules.h"
#include "core/lse.h"
#include "core/metadata.h"
#include "core/rank_trace.h"
#include "cpu/kernel_output.h"
#include "cpu/state.h"

namespace dcpscope {

/** Working memory of one thread. */
struct ThreadScratch {
  explicit ThreadScratch(const Shape& shape);
  Block<float> attention;
  Block<float> acc;
  Block<float> top;
  Block<float> total;
};

/** One collective as a rank went through it. */
struct Collective {
  int32_t seq;
  int64_t enter;
  int64_t lastEnter;
};

/** What a stage moved and computed. */
struct Work {
  int64_t bytes = 0;
  int64_t flops = 0;
};

/**
 * One rank of the group: its part of the KV pool, its buffers, and the stages of a step. `run` is called by
 * the rank's own thread and `help` by threads that have no rank of their own, all at the same time.
 */
class Rank {
 public:
  /** Bytes by purpose, for the prediction. */
  struct Bytes {
    int64_t pool;
    int64_t queries;
    int64_t partials;
    int64_t merged;
    int64_t tables;
    /** Of all these, what other ranks read. */
    PeerBytes peers;
  };
  static Bytes bytes(const Config& config, const Shape& shape, const AttentionPlan& plan);

  Rank(Shared& shared, int rank, int team);

  void run(ThreadScratch& scratch);
  void help(ThreadScratch& scratch);

  /** Writes the keys of context tokens first .. last - 1 that this rank owns. */
  void fill(int layer, int request, int64_t first, int64_t last);

  unsigned char* pool(int layer) { return pool_.data() + layer * poolBytes_; }
  /** Merged output of the rank's own heads, [T][H / ranks][V]. */
  unsigned char* merged(int layer) { return own_.merged + layer * mergedBytes_; }
  /** That of the branch which a layer takes. */
  const Metadata& metadata(int layer) const { return isDraft(config_, layer) ? *draft_ : model_; }

 private:
  void refresh(Metadata& metadata, int layer);
  void compute(int layer, ThreadScratch& scratch);
  void gatherQueries(int layer);
  void append(int layer);
  void localise(int layer);
  void attend(int layer, ThreadScratch& scratch);
  void attendUnits(int layer, ThreadScratch& scratch);
  /** KV head to which a query head attends. */
  int kvHeadOf(int layer, int head) const;
  void attendUnit(int layer, int64_t unit, ThreadScratch& scratch);
  void finish(int64_t row, const float* acc, float top, float total);
  void combine(int layer);
  void combineRow(int request, int row, int splits);
  void writeEmpty(int64_t row);
  void spoilPadding();
  void writeLse(int64_t row, float top, float total);
  void neutralize(int layer);
  void neutralizeRow(int token);
  void noteRow(int layer, int token);
  /** How the merge weights partials, and in which base it takes their lse. */
  lse::MergeRule mergeRule(int layer) const;
  /** The first of the heads that the rank takes from the exchange: its own, unless a fault says others. */
  int firstHead(int layer) const;
  /** Takes the own partial for merged. */
  void keepOwn(int layer);
  KernelFaults kernelFaults(int layer) const;
  bool multipliesZeros() const { return config_.zeroWeight == ZeroWeight::multiplied; }
  void exchange(int layer);
  void agRs(int layer);
  void a2a(int layer);
  void correct(int layer);
  void reduceScatter(int layer);
  void addSlices(int layer);
  void copySlices(int layer);
  void mergeSlices(int layer);
  void p2p(int layer);
  void mergePeers(int layer);
  void restOfLayer();
  /** A tensor of the capture of a layer; null where the layer is not captured. */
  Tensor* kept(int layer, const char* tensor);
  void keep(int layer, const char* tensor, const void* from);
  void keepKernel(int layer);

  /** The fault of this kind that acts on the rank now, null where none does. */
  const Fault* fault(FaultKind kind, int layer) const { return faultOf(shared_.state, kind, rank_, layer); }
  /** Says that the rank is in a stage now; the time. */
  int64_t begin(int layer, Stage stage);
  /** `parts`: what others read of this rank in it. */
  Collective enter(int layer, Stage stage, std::initializer_list<PeerPart> parts);
  PeerPart ownOut() const { return {own_.out, ownBytes_.out}; }
  PeerPart ownLse() const { return {own_.lse, ownBytes_.lse}; }
  PeerPart ownWire() const { return {own_.wire, ownBytes_.wire}; }
  void span(int layer, Stage stage, int64_t begin, Work work = {}, const Collective* collective = nullptr);

  Shared& shared_;
  RankTrace& trace_;
  const Config& config_;
  const Shape& shape_;
  const int rank_;
  const int64_t poolBytes_;
  const int64_t mergedBytes_;
  Barrier team_;
  std::atomic<int64_t> nextUnit_{0};
  Block<unsigned char> pool_;
  /** What the other ranks read. */
  const PeerMemory own_;
  const PeerBytes ownBytes_;
  Block<unsigned char> gathered_;
  /** Received from the others: lse, and for a2a slices of partials. */
  Block<unsigned char> slices_;
  Block<float> lses_;
  /** The partial as the merge takes it: in the merged buffer itself when there is nothing to merge. */
  unsigned char* out_ = nullptr;
  KernelOutput kernel_;
  const unsigned char* queries_ = nullptr;
  Metadata model_;
  std::optional<Metadata> draft_;
  /** Local keys that each query token sees in the layer at hand [T]. */
  Block<int32_t> visible_;
  /** Local keys that each row of the kernel walks over [T][H]. */
  Block<int32_t> bounds_;
  /** Local index and slot of each chosen key that lies on this rank, -1 for the others, [T][topk]. */
  Block<int32_t> local_;
  Block<int32_t> chosen_;
  Block<float> splitAcc_;
  Block<float> splitTop_;
  Block<float> splitTotal_;
  /** Where rest_of_layer reads on; ranks begin apart, so that none finds what another has read. */
  int64_t restAt_;
  int collectives_ = 0;
};

}  // namespace dcpscope
