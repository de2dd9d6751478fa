#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>

#include "core/fault_rules.h"

/** What injected faults launch beside the kernels of a step. None of it stamps. */
namespace dcpscope::cuda {

/** Rows of a partial: out [rows][valueDim] bf16 or fp32 and lse [rows], from `first` to before `end`. */
struct PartialFill {
  int64_t first;
  int64_t end;
  int valueDim;
  bool outFp32;
  void* out;
  float* lse;
  /** What each of their values becomes. */
  float outValue;
  float lseValue;
};

void fillPartial(const PartialFill& task, cudaStream_t stream);

/** Rounds `count` values to what bf16 holds. */
void roundToBf16(float* values, int64_t count, cudaStream_t stream);

/** Bounds by which neutralising clears what `rule` says of the true ones: 0 where it clears, else 1; both
 * [tokens]. */
void ruleBounds(const NeutralRule& rule, int tokens, const int32_t* bounds, int32_t* ruled,
                cudaStream_t stream);

/**
 * A pool as a kernel finds it that steps by rows of another length: row i of `seen` [rows][rowBytes] is what
 * lies at i * stepBytes in `pool`, and zeros where that is beyond its `poolBytes`. Bytes are multiples of 16.
 */
struct MisreadTask {
  const void* pool;
  int64_t poolBytes;
  int64_t rows;
  int rowBytes;
  int stepBytes;
  void* seen;
};

void misread(const MisreadTask& task, cudaStream_t stream);

}  // namespace dcpscope::cuda
