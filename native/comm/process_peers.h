#pragma once
#include <cstdint>

#include "comm/control.h"
#include "comm/peers.h"

namespace dcpscope {

/** Ranks in processes that put what others read where they meet. */
class ProcessPeers final : public Peers {
 public:
  /** As Control. */
  ProcessPeers(RunState& state, const PeerBytes& bytes, int64_t patience, int spins);

  PeerMemory memory(int rank) override;
  void meet(int rank) override;
  int64_t enter(int rank, int64_t now, std::span<const PeerPart> parts) override;
  StepReport& report(int rank) override { return control_.report(rank); }
  bool settle(bool toBeChecked) override;
  void throwIfLost() const override { control_.throwIfLost(); }

  Beacon& beacon(int rank) const { return control_.beacon(rank); }
  int port() const { return control_.port(); }

 private:
  struct Entries;
  Entries& entries(int rank) const;

  const int ranks_;
  const int self_;
  const PeerBytes bytes_;
  Control control_;
  uint32_t collectives_ = 0;
};

}  // namespace dcpscope
