#include "comm/process_peers.h"

#include <algorithm>
#include <atomic>

namespace dcpscope {
namespace {

constexpr int64_t kAlign = 4096;

int64_t aligned(int64_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

/** What every rank has in front of its parts. */
constexpr int64_t kEntries = kAlign;

int64_t roomOf(const PeerBytes& b) {
  return kEntries + aligned(b.queries) + aligned(b.out) + aligned(b.lse) + aligned(b.wire) +
         aligned(b.merged);
}

}  // namespace

/** When a rank entered the current collective; two in turn. */
struct ProcessPeers::Entries {
  std::atomic<int64_t> at[2];
};

// Other processes see the same bytes, which only holds for what needs no lock.
static_assert(std::atomic<int64_t>::is_always_lock_free);

ProcessPeers::ProcessPeers(RunState& state, const PeerBytes& bytes, int64_t patience, int spins)
    : ranks_(state.config.ranks),
      self_(state.member->rank),
      bytes_(bytes),
      control_(state, roomOf(bytes), patience, spins) {}

ProcessPeers::Entries& ProcessPeers::entries(int rank) const {
  return *reinterpret_cast<Entries*>(control_.room(rank));
}

PeerMemory ProcessPeers::memory(int rank) {
  unsigned char* at = control_.room(rank) + kEntries;
  const auto take = [&](int64_t bytes) {
    unsigned char* part = bytes == 0 ? nullptr : at;
    at += aligned(bytes);
    return part;
  };
  PeerMemory memory;
  memory.queries = take(bytes_.queries);
  memory.out = take(bytes_.out);
  memory.lse = reinterpret_cast<float*>(take(bytes_.lse));
  memory.wire = take(bytes_.wire);
  memory.merged = take(bytes_.merged);
  return memory;
}

void ProcessPeers::meet(int) { static_cast<void>(control_.meet()); }

bool ProcessPeers::settle(bool toBeChecked) {
  if (toBeChecked) control_.show(memory(self_).merged, bytes_.merged, Readers::first);
  return control_.meet();
}

int64_t ProcessPeers::enter(int, int64_t now, std::span<const PeerPart> parts) {
  const uint32_t turn = collectives_++ & 1;
  entries(self_).at[turn].store(now, std::memory_order_relaxed);
  control_.show(&entries(self_), sizeof(Entries));
  for (const PeerPart& part : parts) control_.show(part.at, part.bytes);
  if (!control_.meet()) return now;
  int64_t last = 0;
  for (int r = 0; r < ranks_; ++r) last = std::max(last, entries(r).at[turn].load(std::memory_order_relaxed));
  return last;
}

}  // namespace dcpscope
