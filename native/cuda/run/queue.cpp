#include "cuda/run/queue.h"

#include "cuda/check.h"

namespace dcpscope::cuda {

Queue::Queue() {
  cudaCheck(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
  for (cudaEvent_t* event : {&begin, &end}) cudaCheck(cudaEventCreate(event), "making an event");
  for (cudaEvent_t& event : layers)
    cudaCheck(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "making an event");
}

Queue::~Queue() {
  for (cudaEvent_t event : {begin, end, layers[0], layers[1]}) static_cast<void>(cudaEventDestroy(event));
  static_cast<void>(cudaStreamDestroy(stream));
}

}  // namespace dcpscope::cuda
