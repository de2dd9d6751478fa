#pragma once
#include <cstdint>
#include <span>

#include "comm/step_report.h"

namespace dcpscope {

/** Memory of one rank that the others read. */
struct PeerMemory {
  /** Queries of its own heads, [layers][T][H / ranks][D]; null where ranks share all of them. */
  unsigned char* queries = nullptr;
  /** Partials as the merge takes them: [T][H][V] and [T][H]. */
  unsigned char* out = nullptr;
  float* lse = nullptr;
  /** Weighted partials on their way to the sum. */
  unsigned char* wire = nullptr;
  /** Merged output of its own heads, [layers][T][H / ranks][V]. */
  unsigned char* merged = nullptr;
};

/** Bytes of each. */
struct PeerBytes {
  int64_t queries = 0;
  int64_t out = 0;
  int64_t lse = 0;
  int64_t wire = 0;
  int64_t merged = 0;
};

/** Bytes of the own memory that peers read in a collective. */
struct PeerPart {
  const void* at;
  int64_t bytes;
};

/**
 * The ranks of a group as they meet. A collective is to enter it and then to read what the peers wrote before
 * they entered: all-gather, all-to-all and reduce-scatter are that with other parts of their memory, and p2p
 * merges right from there. Whoever writes over what peers read meets them before. All ranks enter and meet in
 * the same order.
 */
class Peers {
 public:
  virtual ~Peers() = default;

  virtual PeerMemory memory(int rank) = 0;

  /** Returns when all ranks have met as often as this one; at once when the run is given up. */
  virtual void meet(int rank) = 0;
  /** The same for a collective that `rank` enters `now`, in which others read `parts`: when the last rank
   * entered it. */
  virtual int64_t enter(int rank, int64_t now, std::span<const PeerPart> parts) = 0;

  /** Of a rank in the last step: written by itself before `settle`, read by others after it. */
  virtual StepReport& report(int rank) = 0;
  /** Between steps, once a process: meets the other processes, after which the first rank reads what all have
   * merged where it is `toBeChecked`. False when the run is given up. */
  virtual bool settle(bool toBeChecked) = 0;
  /** Throws what ended the run from outside this process. */
  virtual void throwIfLost() const {}
};

}  // namespace dcpscope
