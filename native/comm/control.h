#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "comm/venue.h"
#include "core/run_state.h"

namespace dcpscope {

/**
 * How ranks with processes of their own come to the same point of a run and what they tell each other there,
 * in memory that they share or over the network (Venue). How their data goes from rank to rank is left to
 * others.
 *
 * A rank that waits for another watches its beacon: when that stands still for too long the run is given up,
 * and `throwIfLost` names the rank and where it is. Giving up is one decision for all ranks: a meeting takes
 * place on every rank or on none.
 */
class Control {
 public:
  /**
   * `room`: bytes that each rank shows the others; `patience`: nanoseconds that a rank may stand still;
   * `spins`: rounds of looking before a wait sleeps. Rank 0 makes the memory, which the others open, or
   * listens.
   */
  Control(RunState& state, int64_t room, int64_t patience, int spins);
  /** Others do not wait for a rank that has left. */
  ~Control();
  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;

  /** True when all ranks have met as often as this one, false at once when the run is given up. */
  bool meet();

  /** Before this rank waits for something else than a meeting. */
  void beginWatch();
  /** Again and again while it waits: false when the run is given up, as it is when a rank stands still. */
  bool watch();
  /** Gives the run up, since `rank` did not come to where this one is for `waited` nanoseconds. */
  void lose(int rank, int64_t waited);

  /** Throws what ended the run from outside this process. */
  void throwIfLost() const;

  /** From now on a rank may stand still for so long, nanoseconds. */
  void setPatience(int64_t patience) { patience_ = patience; }
  int64_t patience() const { return patience_; }

  Beacon& beacon(int rank) const;
  /** Of the last step: written by the rank itself before a meeting, read by others after it. */
  StepReport& report(int rank) const;
  /** What a rank shows the others, likewise; zeroes at first, aligned to a page. */
  unsigned char* room(int rank) const;
  /** To be called before a meeting for all that has changed in the own room and that others read after it. */
  void show(const void* from, int64_t bytes, Readers readers = Readers::all);

  /** Where the first rank listens for the others; 0 where they share memory. */
  int port() const { return venue_->port(); }

 private:
  bool wait(uint32_t turn);
  /** Tries to end the meeting `turn` for all ranks; false when it has taken place. */
  bool giveUp(uint32_t turn);
  /** Gives up and remembers why. */
  bool lose(int rank, int64_t waited, uint32_t turn);
  /** Another rank has given up. */
  void takeEnd();
  /** Whether this rank is cancelled as well, which another one may have heard of earlier. */
  bool cancelledSoon() const;
  /** A rank that is missing at meeting `turn` and has stood still for longer than patience allows; -1: none.
   */
  int overdue(uint32_t turn);

  RunState& state_;
  const int ranks_;
  const int self_;
  int64_t patience_;
  const int spins_;
  const std::unique_ptr<Venue> venue_;
  const Board& board_;
  uint32_t turn_ = 0;
  /** Before the next meeting. */
  std::vector<Shown> shown_;
  /** Of each rank, as this one last saw it: its pulse, and since when that stands still. */
  std::vector<uint64_t> pulses_;
  std::vector<int64_t> still_;
  int64_t watchedAt_ = 0;
  bool lost_ = false;
  /** The rank that did not come, and to what; -1 when another has ended the run. */
  int absent_ = -1;
  Place missed_;
  /** For so long, nanoseconds. */
  int64_t waited_ = 0;
};

}  // namespace dcpscope
