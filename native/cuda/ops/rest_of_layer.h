#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda/stamp.h"

/** Stands for the projections and experts of a layer: reads weights and does matrix products at the same
 * time. */
namespace dcpscope::cuda {

struct RestTask {
  /** Buffer of restBufferBytes(bytes); finite bf16 values are not needed, nothing reads them as numbers. */
  const void* weights;
  int64_t bufferBytes;
  /** Bytes to read, from the front again behind the end of the buffer. */
  int64_t bytes;
  /** bf16 matrix work on the tensor cores beside the reads; 0 for none. */
  int64_t flops;
  /** Four bytes that are written practically never. */
  uint32_t* sink;
};

/** At most 4 GB; 0 without bytes. */
int64_t restBufferBytes(int64_t bytes);

void restOfLayer(const RestTask& task, cudaStream_t stream, Stamp* stamps);

}  // namespace dcpscope::cuda
