#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace dcpscope {

/** Where the first rank of a group on several machines listens. */
struct MeetingPoint {
  /** Numeric. Of the first rank itself: where it is to listen; empty: at all addresses that it has. */
  std::string address;
  /** The first rank takes any that is free, see Group::port. */
  int port = 0;
};

/** A rank with a process of its own, and what it meets the others by. */
struct Member {
  int rank = 0;
  /** Name of the memory that the ranks share (`/dcpscope-12-ab`), or what they know each other by over the
   * network; empty for a rank without others. */
  std::string segment;
  /** Makes that memory, before the others open it, or listens. The first rank does so. */
  bool creates = false;
  /** Nanoseconds of the steady clock at which the clock of the run is zero. */
  int64_t clockBase = 0;
  /** The GPU that computes it, as CUDA counts them. */
  int gpu = 0;
  /** Where ranks meet over the network, since they share no memory. */
  std::optional<MeetingPoint> network = {};
};

}  // namespace dcpscope
