#pragma once
#include <cstdint>
#include <string>

#include "core/clock.h"
#include "cuda/run/memory.h"

namespace dcpscope::cuda {

/** The GPU's %globaltimer on the clock of the run. */
class DeviceClock {
 public:
  /** Aligns the clocks; throws ERR_ENGINE when the GPU does not answer. */
  explicit DeviceClock(const Clock& host);

  /** Aligns anew. The device is idle. */
  void align();
  /** The same when the last time is a second ago. */
  void refresh();

  int64_t onHost(uint64_t device) const { return static_cast<int64_t>(device) + offset_; }
  /** Half the fastest answer, and the largest step between two alignments. */
  int64_t uncertaintyNs() const { return uncertainty_ + drift_; }
  std::string alignment() const;

 private:
  const Clock& host_;
  PinnedMemory mailbox_;
  int64_t offset_ = 0;
  int64_t uncertainty_ = 0;
  int64_t drift_ = 0;
  int64_t alignedAt_ = 0;
  bool aligned_ = false;
};

}  // namespace dcpscope::cuda
