#pragma once
#include <cuda_runtime_api.h>

namespace dcpscope::cuda {

/** Stream and events of a rank. Shared with whoever may still use the stream when the run is over: NCCL. */
struct Queue {
  Queue();
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  cudaStream_t stream = nullptr;
  /** Borders of a step. */
  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
  /** After a layer, in turn: bounds how far the host runs ahead. */
  cudaEvent_t layers[2] = {};
};

}  // namespace dcpscope::cuda
