#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda/stamp.h"

/** Stands for the projections and experts of a layer: reads weights and does matrix products at the same
 * time. */
namespace dcpscope::cuda {

/** Where the next call reads on; zeroed once, in device memory, one for a buffer of weights. */
struct RestState {
  uint64_t cursor;
  uint32_t arrived;
  /** Written practically never: keeps the compiler from leaving the work out. */
  uint32_t sink;
};

struct RestTask {
  /** restBufferBytes(bytes) bytes, any content. Calls walk through them, so that none finds its bytes in a
   * cache. */
  const void* weights;
  int64_t bufferBytes;
  int64_t bytes;
  /** bf16 matrix work on the tensor cores beside the reads; 0 for none. */
  int64_t flops;
  RestState* state;
};

/** From several times the caches to 4 GB; 0 without bytes. */
int64_t restBufferBytes(int64_t bytes);

void restOfLayer(const RestTask& task, cudaStream_t stream, Stamps stamps);

}  // namespace dcpscope::cuda
