#pragma once
#include <cuda_runtime_api.h>

#include "cuda/run/timeline.h"
#include "cuda/stamp.h"

namespace dcpscope::cuda {

/**
 * A kernel fault on purpose, for tests of what happens then: DCPSCOPE_TEST_FAULT=stage:rank:step in the
 * environment, e.g. decode_attn:1:3.
 */
class TestFault {
 public:
  /** Reads the environment; ERR_CONFIG for text that is not of the form. */
  TestFault();

  bool strikes(int step) const { return step_ >= 0 && step == step_; }
  bool strikes(int step, const Work& work) const {
    return strikes(step) && work.stage == stage_ && work.rank == rank_;
  }

  /** A kernel that announces itself as its stage and then writes where it must not. */
  static void strike(const Stamp* stamps, cudaStream_t stream);

 private:
  Stage stage_ = Stage::metadata;
  int rank_ = -1;
  int step_ = -1;
};

}  // namespace dcpscope::cuda
