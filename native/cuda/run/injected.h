#pragma once
#include <cuda_runtime_api.h>

#include "core/fault_rules.h"
#include "core/run_state.h"
#include "cuda/run/buffers.h"
#include "cuda/run/memory.h"
#include "cuda/run/sizes.h"

namespace dcpscope::cuda {

/** What faults launch around attention and neutralising of a rank, in the layer and the step at hand. */
class Injected {
 public:
  /** For a run with faults. */
  Injected(const RunState& state, const Sizes& sizes, const Buffers& buffers);

  /** Before attention: memory that it leaves unwritten holds what is far off, the same in every run. */
  void age(int rank, int layer, cudaStream_t stream) const;
  /** The pool of a layer as attention finds it. */
  const void* pool(int rank, int layer, cudaStream_t stream) const;
  /** Behind attention: what it left in rows that only pad the batch, and of the lse. */
  void spoil(int rank, int layer, cudaStream_t stream) const;
  /** Bounds by which rows are neutralised, from those of the layer. */
  const int32_t* ruled(int rank, int layer, const int32_t* bounds, cudaStream_t stream) const;

 private:
  bool acts(FaultKind kind, int rank, int layer) const {
    return faultOf(state_, kind, rank, layer) != nullptr;
  }
  /** Rows of the tokens from `token` on, in a partial of the layer. */
  void fill(int rank, int layer, int token, float out, float lse, cudaStream_t stream) const;

  const RunState& state_;
  const Config& c_;
  const Shape& s_;
  const Sizes& z_;
  const Buffers& buffers_;
  DeviceMemory ruled_;
  DeviceMemory misread_;
};

}  // namespace dcpscope::cuda
