#pragma once
#include <cuda_runtime_api.h>

#include <functional>
#include <map>
#include <tuple>

#include "cuda/run/stages.h"

namespace dcpscope::cuda {

/** What `enqueue` puts on the stream, as a graph; nothing runs. */
class CapturedGraph {
 public:
  CapturedGraph(cudaStream_t stream, const std::function<void()>& enqueue);
  ~CapturedGraph();
  CapturedGraph(const CapturedGraph&) = delete;
  CapturedGraph& operator=(const CapturedGraph&) = delete;

  cudaGraph_t get() const { return graph_; }

 private:
  cudaGraph_t graph_ = nullptr;
};

/** Captured steps, one for each way in which a step is run. */
class Graphs {
 public:
  Graphs() = default;
  ~Graphs();
  Graphs(const Graphs&) = delete;
  Graphs& operator=(const Graphs&) = delete;

  bool has(StepMode mode) const { return graphs_.count(key(mode)) > 0; }
  /** `enqueue` puts the step on the stream. */
  void capture(StepMode mode, cudaStream_t stream, const std::function<void()>& enqueue);
  void launch(StepMode mode, cudaStream_t stream) const;

 private:
  using Key = std::tuple<bool, bool, bool, uint64_t>;
  static Key key(StepMode mode) { return {mode.traced, mode.captured, mode.recorded, mode.faults}; }

  std::map<Key, cudaGraphExec_t> graphs_;
};

}  // namespace dcpscope::cuda
