#pragma once
#include <cstdint>
#include <vector>

#include "comm/peers.h"
#include "core/block.h"
#include "cpu/barrier.h"

namespace dcpscope {

/** Ranks as threads of one process, which read each other's memory as it is. */
class ThreadPeers final : public Peers {
 public:
  ThreadPeers(const PeerBytes& bytes, int ranks, int spins) : barrier_(ranks, spins), reports_(ranks) {
    for (int r = 0; r < ranks; ++r) memory_.emplace_back(bytes);
    for (Block<int64_t>& e : enters_) e = Block<int64_t>(ranks * kLine);
  }

  PeerMemory memory(int rank) override { return memory_[static_cast<size_t>(rank)].parts(); }

  void meet(int) override { barrier_.wait(); }

  int64_t enter(int rank, int64_t now, std::span<const PeerPart>) override {
    Memory& own = memory_[static_cast<size_t>(rank)];
    Block<int64_t>& enters = enters_[own.collectives++ & 1];
    enters[rank * kLine] = now;
    barrier_.wait();
    int64_t last = 0;
    for (int64_t at = 0; at < enters.size(); at += kLine) last = std::max(last, enters[at]);
    return last;
  }

  StepReport& report(int rank) override { return reports_[static_cast<size_t>(rank)]; }
  bool settle(bool) override { return true; }

 private:
  /** Values of a cache line, so that ranks do not write to the same one. */
  static constexpr int64_t kLine = 8;

  struct Memory {
    explicit Memory(const PeerBytes& bytes)
        : out(bytes.out), lse(bytes.lse), wire(bytes.wire), merged(bytes.merged) {}
    PeerMemory parts() {
      return {nullptr, out.data(), reinterpret_cast<float*>(lse.data()), wire.data(), merged.data()};
    }
    Block<unsigned char> out;
    Block<unsigned char> lse;
    Block<unsigned char> wire;
    Block<unsigned char> merged;
    uint32_t collectives = 0;
  };

  Barrier barrier_;
  std::vector<Memory> memory_;
  std::vector<StepReport> reports_;
  /** When each rank entered the current collective; two sets in turn. */
  Block<int64_t> enters_[2];
};

}  // namespace dcpscope
