#pragma once
#include <cuda_runtime_api.h>

#include <compare>
#include <functional>
#include <map>

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

/** What one captured graph is for: a branch, as the serving engines have it, run in one way. */
struct GraphKey {
  Branch branch;
  StepMode mode;
  /** Faults that act, as Faults::launchedIn has them. */
  uint64_t faults;

  auto operator<=>(const GraphKey&) const = default;
};

/** Captured work of steps. */
class Graphs {
 public:
  Graphs() = default;
  ~Graphs();
  Graphs(const Graphs&) = delete;
  Graphs& operator=(const Graphs&) = delete;

  bool has(const GraphKey& key) const { return graphs_.count(key) > 0; }
  /** `enqueue` puts the work on the stream. */
  void capture(const GraphKey& key, cudaStream_t stream, const std::function<void()>& enqueue);
  void launch(const GraphKey& key, cudaStream_t stream) const;

 private:
  std::map<GraphKey, cudaGraphExec_t> graphs_;
};

}  // namespace dcpscope::cuda
