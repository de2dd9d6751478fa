#pragma once
#include <chrono>
#include <cstdint>

namespace dcpscope {

/** Nanoseconds since the clock was made; one clock serves all ranks of a run. */
class Clock {
 public:
  int64_t now() const {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - base_)
        .count();
  }

 private:
  std::chrono::steady_clock::time_point base_ = std::chrono::steady_clock::now();
};

}  // namespace dcpscope
