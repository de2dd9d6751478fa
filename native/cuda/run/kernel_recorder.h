#pragma once
#include <string>
#include <vector>

#include "cuda/run/device_ops.h"

namespace dcpscope::cuda {

/**
 * Records every kernel, copy and fill of the process while it is on, through CUPTI. Nothing is recorded, and
 * a problem says why, where CUPTI is missing or refuses. One at a time.
 */
class KernelRecorder {
 public:
  /** Has CUPTI prepare the current GPU, which takes long the first time. */
  KernelRecorder();
  ~KernelRecorder();
  KernelRecorder(const KernelRecorder&) = delete;
  KernelRecorder& operator=(const KernelRecorder&) = delete;

  /** Why CUPTI cannot be used on this machine, without asking a GPU; empty when it can. */
  static std::string problemHere();

  /** Why nothing was recorded the last time, in one line; empty when all went well. */
  const std::string& problem() const { return problem_; }

  /** False when it cannot be turned on. */
  bool turnOn();
  /** Forgets what was recorded. The device is idle. */
  void forget();
  /** Turns it off and gives what was recorded, by start. The device is idle. */
  std::vector<DeviceOp> turnOff();

 private:
  bool on_ = false;
  std::string problem_;
};

}  // namespace dcpscope::cuda
