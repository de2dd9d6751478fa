#pragma once
#include <cstdint>
#include <string>

namespace dcpscope {

/** A rank with a process of its own, and what it meets the others by. */
struct Member {
  int rank = 0;
  /** Name of the memory that the ranks share (`/dcpscope-12-ab`); empty for a rank without others. */
  std::string segment;
  /** Makes that memory, before the others open it. */
  bool creates = false;
  /** Nanoseconds of the steady clock at which the clock of the run is zero. */
  int64_t clockBase = 0;
  /** The GPU that computes it, as CUDA counts them. */
  int gpu = 0;
};

}  // namespace dcpscope
