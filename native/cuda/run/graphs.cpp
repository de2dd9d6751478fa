#include "cuda/run/graphs.h"

#include "cuda/check.h"

namespace dcpscope::cuda {

Graphs::~Graphs() {
  for (const auto& entry : graphs_) static_cast<void>(cudaGraphExecDestroy(entry.second));
}

void Graphs::capture(StepMode mode, cudaStream_t stream, const std::function<void()>& enqueue) {
  cudaCheck(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capturing a step");
  cudaGraph_t graph = nullptr;
  try {
    enqueue();
  } catch (...) {
    static_cast<void>(cudaStreamEndCapture(stream, &graph));
    static_cast<void>(cudaGraphDestroy(graph));
    throw;
  }
  cudaCheck(cudaStreamEndCapture(stream, &graph), "capturing a step");
  cudaGraphExec_t ready = nullptr;
  const cudaError_t result = cudaGraphInstantiate(&ready, graph, 0);
  static_cast<void>(cudaGraphDestroy(graph));
  cudaCheck(result, "making a graph of a step");
  graphs_[key(mode)] = ready;
  cudaCheck(cudaGraphUpload(ready, stream), "sending the graph of a step");
}

void Graphs::launch(StepMode mode, cudaStream_t stream) const {
  cudaCheck(cudaGraphLaunch(graphs_.at(key(mode)), stream), "replaying a step");
}

}  // namespace dcpscope::cuda
