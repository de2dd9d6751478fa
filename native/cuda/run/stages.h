#pragma once
#include <cuda_runtime_api.h>

#include <compare>
#include <vector>

#include "core/branch.h"
#include "core/run_state.h"
#include "cuda/attention.h"
#include "cuda/ops/cache.h"
#include "cuda/run/buffers.h"
#include "cuda/run/exchange.h"
#include "cuda/run/handed.h"
#include "cuda/run/injected.h"
#include "cuda/run/sizes.h"
#include "cuda/run/timeline.h"

namespace dcpscope::cuda {

/** How a step is run. */
struct StepMode {
  /** Stamps and row statistics. */
  bool traced = true;
  /** Copies of the tensors of captured layers. */
  bool captured = false;
  /** CUPTI records what runs. */
  bool recorded = false;

  auto operator<=>(const StepMode&) const = default;
};

/** What changes the stages of a rank: what is handed to the branches of the model and of the draft, and
 * faults around attention. Null where nothing does. */
struct Changes {
  const Handed* toModel;
  const Handed* toDraft;
  const Injected* injected;
};

/** Enqueues the kernels of one piece of work. Everything here can be captured into a graph. */
class Stages {
 public:
  Stages(const RunState& state, const Sizes& sizes, const Buffers& buffers, Attention& attention,
         const Exchange& exchange, const Changes& changes);

  /** Work `at` of `order`. `splitCombine` enqueues nothing: it is part of the work before it. */
  void enqueue(const std::vector<Work>& order, size_t at, StepMode mode, cudaStream_t stream) const;

  /** Whether copies for a capture follow this work. */
  bool keepsAfter(const Work& work) const;

  /** Makes queries, new keys and chosen ids of all layers, before the step begins. */
  void makeInputs(cudaStream_t stream) const;
  /** Context tokens of a piece, on every rank of this process. */
  void fill(int layer, int request, int64_t first, int64_t last, cudaStream_t stream) const;

  /** Index among the captured layers, -1 for none. */
  int capturedAt(int layer) const;
  /** Whether attention takes the statistics of rows with keys; else neutralising takes all: of an lse that
   * is kept apart those of what was kept. */
  bool attentionTakesStats() const {
    return attention_.takesStats() && changes_.injected == nullptr && !keepsLseApart(c_);
  }

 private:
  void chooseKeys(int layer, cudaStream_t stream) const;
  void refresh(int rank, Branch branch, const Stamps& stamps, cudaStream_t stream) const;
  void localize(int rank, int layer, const Stamps& stamps, cudaStream_t stream) const;
  void append(int rank, int layer, const Stamps& stamps, cudaStream_t stream) const;
  void attend(int rank, int layer, StepMode mode, const Stamps& stamps, const Stamps& combineStamps,
              cudaStream_t stream) const;
  void neutralize(int rank, int layer, StepMode mode, const Stamps& stamps, cudaStream_t stream) const;
  void keep(const Work& work, cudaStream_t stream) const;

  Ownership ownership(int rank) const;
  KernelLse kernelLse(int rank) const;
  const char* queriesOf(int layer) const;
  /** Bounds that attention of a layer uses. */
  const int32_t* boundsOf(int rank, int layer) const;
  Branch branchOf(int layer) const { return dcpscope::branchOf(c_, layer); }
  /** What is handed to a branch; null where its metadata are those that kernels make. */
  const Handed* handedTo(Branch branch) const {
    return branch == Branch::draftExtend ? changes_.toDraft : changes_.toModel;
  }
  /** Page table and keys of each request, as attention is handed them. */
  const int32_t* pagesOf(int rank, Branch branch) const;
  const int64_t* tableBegin(Branch branch) const;
  const int32_t* keysOf(int rank, Branch branch) const;

  const RunState& state_;
  const Config& c_;
  const Shape& s_;
  const Sizes& z_;
  const Buffers& buffers_;
  Attention& attention_;
  const Exchange& exchange_;
  const Changes changes_;
  const CacheFormat format_;
  const std::vector<int> capturedLayers_;
};

}  // namespace dcpscope::cuda
