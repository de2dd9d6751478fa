#include "cuda/run/graphs.h"

#include "cuda/check.h"

namespace dcpscope::cuda {

CapturedGraph::CapturedGraph(cudaStream_t stream, const std::function<void()>& enqueue) {
  cudaCheck(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capturing a step");
  try {
    enqueue();
  } catch (...) {
    // A stream that still captures would refuse whatever comes next.
    cudaGraph_t partial = nullptr;
    if (cudaStreamEndCapture(stream, &partial) == cudaSuccess) static_cast<void>(cudaGraphDestroy(partial));
    forgetError();
    throw;
  }
  cudaCheck(cudaStreamEndCapture(stream, &graph_), "capturing a step");
}

CapturedGraph::~CapturedGraph() { static_cast<void>(cudaGraphDestroy(graph_)); }

Graphs::~Graphs() {
  for (const auto& entry : graphs_) static_cast<void>(cudaGraphExecDestroy(entry.second));
}

void Graphs::capture(const GraphKey& key, cudaStream_t stream, const std::function<void()>& enqueue) {
  const CapturedGraph graph(stream, enqueue);
  cudaGraphExec_t ready = nullptr;
  cudaCheck(cudaGraphInstantiate(&ready, graph.get(), 0), "making a graph of a step");
  graphs_[key] = ready;
  cudaCheck(cudaGraphUpload(ready, stream), "sending the graph of a step");
}

void Graphs::launch(const GraphKey& key, cudaStream_t stream) const {
  cudaCheck(cudaGraphLaunch(graphs_.at(key), stream), "replaying a step");
}

}  // namespace dcpscope::cuda
