#pragma once
#include <chrono>
#include <cstdint>

namespace dcpscope {

/** Nanoseconds since the clock was made; one clock serves all ranks of a run. */
class Clock {
 public:
  Clock() = default;
  /** Zero at `base` nanoseconds of the steady clock, which processes of one machine share. */
  explicit Clock(int64_t base) : base_(std::chrono::nanoseconds(base)) {}

  int64_t now() const {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - base_)
        .count();
  }

 private:
  std::chrono::steady_clock::time_point base_ = std::chrono::steady_clock::now();
};

}  // namespace dcpscope
