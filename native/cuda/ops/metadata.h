#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda/ops/cache.h"

namespace dcpscope::cuda {

/**
 * Lengths of a step, all arrays on the device and read when the kernel runs. T = requests * qLen. Token q of
 * a request is new when before + q < after; a request that only pads a batch has before = after = its dummy
 * length.
 */
struct MetadataTask {
  Ownership own;
  int requests;
  int qLen;
  /** Global length without and with the new tokens [requests]. */
  const int64_t* before;
  const int64_t* after;
  /** Page ids of request r begin at pageTable[tableBegin[r]]. */
  const int32_t* pageTable;
  const int64_t* tableBegin;
  /** Tokens of each prompt [requests], behind which tokens are dealt out anew; null where they are not. */
  const int64_t* prompts;
  /** Out: local keys of each request [requests]. */
  int32_t* lengths;
  /** Out: local keys that each query token sees [T]. */
  int32_t* bounds;
  /** Out: slot of each new token [T], -1 where another rank stores it or there is no token. */
  int64_t* slots;
};

void makeMetadata(const MetadataTask& task, cudaStream_t stream, Stamps stamps);

}  // namespace dcpscope::cuda
