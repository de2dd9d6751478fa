#pragma once
#include <cuda_runtime_api.h>

#include "core/fault_point.h"
#include "cuda/run/timeline.h"
#include "cuda/stamp.h"

namespace dcpscope::cuda {

/** A kernel that faults, or hangs, on purpose where core/fault_point.h says. */
class TestFault {
 public:
  bool strikes(int step) const { return at_.step >= 0 && step == at_.step; }
  bool strikes(int step, const Work& work) const {
    return strikes(step) && work.stage == at_.stage && work.rank == at_.rank;
  }

  /** A kernel that announces itself as its stage and then writes where it must not, or ends much later. */
  void strike(const Stamps& stamps, cudaStream_t stream) const;

 private:
  const FaultPoint at_ = faultPoint();
};

}  // namespace dcpscope::cuda
