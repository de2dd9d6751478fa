#pragma once
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "comm/peers.h"
#include "comm/segment.h"
#include "core/run_state.h"

namespace dcpscope {

/**
 * Ranks in processes of one machine that meet in shared memory. A rank that waits for another watches its
 * beacon: when that stands still for too long the run is given up, and `throwIfLost` names the rank and where
 * it is. Giving up is one decision for all ranks: a meeting takes place on every rank or on none.
 */
class ProcessPeers final : public Peers {
 public:
  /** `patience`: nanoseconds that a rank may stand still; `spins`: rounds of looking before a wait sleeps. */
  ProcessPeers(RunState& state, const PeerBytes& bytes, int64_t patience, int spins);
  /** Others do not wait for a rank that has left. */
  ~ProcessPeers() override;
  ProcessPeers(const ProcessPeers&) = delete;
  ProcessPeers& operator=(const ProcessPeers&) = delete;

  PeerMemory memory(int rank) override;
  void meet(int rank) override;
  int64_t enter(int rank, int64_t now) override;
  StepReport& report(int rank) override;
  bool settle() override;
  void throwIfLost() const override;

  Beacon& beacon(int rank);

  static int64_t segmentBytes(const PeerBytes& bytes, int ranks);

 private:
  struct Header;
  struct Control;

  /** Whether the meeting took place. */
  bool arrive();
  bool wait(uint32_t turn);
  /** Tries to end the meeting `turn` for all ranks; false when it has taken place. */
  bool giveUp(uint32_t turn);
  /** Whether this rank is cancelled as well, which another one may have heard of earlier. */
  bool cancelledSoon() const;
  void ring();
  void sleep(uint32_t seen);
  /** A rank that is missing at meeting `turn` and has stood still for longer than patience allows; -1: none.
   */
  int overdue(uint32_t turn, int64_t elapsed);
  Control& control(int rank) const;

  RunState& state_;
  const int ranks_;
  const int self_;
  const PeerBytes bytes_;
  const int64_t patience_;
  const int spins_;
  Segment segment_;
  Header* header_;
  uint32_t turn_ = 0;
  uint32_t collectives_ = 0;
  /** Of each rank, as this one last saw it: its pulse, and since when that stands still. */
  std::vector<uint64_t> pulses_;
  std::vector<int64_t> still_;
  bool lost_ = false;
  /** The rank that did not come, and to what; -1 when another has ended the run. */
  int absent_ = -1;
  Place missed_;
};

}  // namespace dcpscope
