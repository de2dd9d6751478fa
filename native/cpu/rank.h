#pragma once
#include <atomic>
#include <cstdint>
#include <vector>

#include "core/block.h"
#include "core/trace.h"
#include "cpu/capture.h"
#include "cpu/state.h"

namespace dcpscope {

/** Rows of one kind that a rank noticed in a step, and the first of them. */
struct Sighting {
  int64_t count = 0;
  int32_t layer = -1;
  int32_t request = -1;
  int32_t row = -1;

  void note(int64_t n, int32_t atLayer, int32_t atRequest, int32_t atRow) {
    if (n > 0 && count == 0) {
      layer = atLayer;
      request = atRequest;
      row = atRow;
    }
    count += n;
  }
};

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

struct RingSizes {
  int64_t spans;
  int64_t rows;
  int64_t pages;
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
  };
  static Bytes bytes(const Config& config, const Shape& shape, const AttentionPlan& plan);

  Rank(Shared& shared, int rank, int team, const RingSizes& rings);

  void run(ThreadScratch& scratch);
  void help(ThreadScratch& scratch);

  /** Writes the keys of context tokens first .. last - 1 that this rank owns. */
  void fill(int layer, int request, int64_t first, int64_t last);

  /** Takes back what the current step recorded. */
  void giveUp();

  unsigned char* pool(int layer) { return pool_.data() + layer * poolBytes_; }
  /** Merged output of the rank's own heads, [T][H / ranks][V]. */
  unsigned char* merged(int layer) { return merged_.data() + layer * mergedBytes_; }
  /** Partials as the merge takes them: [T][H][V] and [T][H]. */
  unsigned char* out() { return out_; }
  float* lse() { return lse_.data(); }
  unsigned char* wire() { return wire_.data(); }

  int64_t localLength(int request) const { return lengths_[request]; }
  const int32_t* blockTable(int request) const {
    return &table_[shared_.shape.cellBegin[static_cast<size_t>(request)]];
  }
  const Block<int64_t>& slots() const { return slots_; }

  Ring spans;
  Ring rows;
  Ring pages;
  int64_t began = 0;
  int64_t ended = 0;
  Sighting nan;
  Sighting inf;
  Sighting lseNan;
  /** Requests without a key on this rank, in this step. */
  Sighting empty;
  /** Tensors that this step's captured layers write to, in the order of captureLayers. */
  std::vector<Capture> captures;

 private:
  void metadata();
  void gatherQueries(int layer);
  void append(int layer);
  void attend(int layer, ThreadScratch& scratch);
  void attendUnits(int layer, ThreadScratch& scratch);
  void attendUnit(int layer, int64_t unit, ThreadScratch& scratch);
  void finish(int64_t row, const float* acc, float top, float total);
  void combine();
  void combineRow(int request, int row, int splits);
  void writeEmpty(int64_t row);
  void writeLse(int64_t row, float top, float total);
  void neutralize(int layer);
  void neutralizeRow(int layer, int token);
  void agRs(int layer);
  void a2a(int layer);
  void correct();
  void reduceScatter(int layer);
  void copySlices();
  void mergeSlices(int layer);
  void restOfLayer();
  void keep(int layer, const char* tensor, const void* from);

  Collective enter();
  void span(int layer, Stage stage, int64_t begin, Work work = {}, const Collective* collective = nullptr);

  Shared& shared_;
  const Config& config_;
  const Shape& shape_;
  const int rank_;
  const int64_t poolBytes_;
  const int64_t mergedBytes_;
  Barrier team_;
  std::atomic<int64_t> nextUnit_{0};
  Block<unsigned char> pool_;
  Block<unsigned char> merged_;
  Block<unsigned char> gathered_;
  Block<unsigned char> partial_;
  Block<unsigned char> wire_;
  Block<float> lse_;
  Block<float> lses_;
  /** Where the kernel writes: the merged buffer itself when there is nothing to merge. */
  unsigned char* out_ = nullptr;
  const unsigned char* queries_ = nullptr;
  Block<int64_t> lengths_;
  Block<int32_t> table_;
  Block<int64_t> slots_;
  /** Visible local keys per query token [T], and per kernel row of a request [B][qLen * H]. */
  Block<int32_t> visible_;
  Block<int32_t> bounds_;
  Block<float> splitAcc_;
  Block<float> splitTop_;
  Block<float> splitTotal_;
  int collectives_ = 0;
  int64_t spansMark_ = 0;
  int64_t rowsMark_ = 0;
};

/** Spans that a rank records in one step at most, without the stall before it. */
int64_t spansPerStep(const Config& config);

}  // namespace dcpscope
