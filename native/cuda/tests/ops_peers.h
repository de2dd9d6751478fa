#pragma once
#include <memory>
#include <vector>

#include "cuda/check.h"
#include "cuda/ops/transport.h"
#include "cuda/tests/ops_bench.h"

/** Ranks that wait for each other on one device. */
namespace dcpscope::cuda::tests {

/** Flags of the ranks of a group that share a device. */
struct Flags {
  Flags(int ofRanks, uint64_t patience) : ranks(ofRanks), counts(ofRanks), lost(ofRanks) {
    counts.fill(0);
    lost.fill(0);
    for (int r = 0; r < ranks; ++r) {
      turns.push_back(std::make_unique<DeviceArray<uint32_t>>(ranks));
      turns.back()->fill(0);
    }
    for (int r = 0; r < ranks; ++r) {
      PeerFlags flags{};
      for (int peer = 0; peer < ranks; ++peer) flags.turns[peer] = turns[static_cast<size_t>(peer)]->get();
      flags.count = counts.get() + r;
      flags.patience = patience;
      flags.lost = lost.get() + r;
      of.push_back(flags);
    }
  }

  void checkGuards() const {
    for (const auto& own : turns) own->checkGuards("turns");
    counts.checkGuards("counts");
    lost.checkGuards("lost");
  }

  int ranks;
  std::vector<std::unique_ptr<DeviceArray<uint32_t>>> turns;
  DeviceArray<PeerFlags::Count> counts;
  DeviceArray<uint32_t> lost;
  std::vector<PeerFlags> of;
};

/** A stream for each rank, so that their kernels run beside each other. */
struct Streams {
  explicit Streams(int count) : of(static_cast<size_t>(count)) {
    for (auto& stream : of)
      cudaCheck(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "a stream for a rank");
  }
  ~Streams() {
    for (cudaStream_t stream : of) cudaStreamDestroy(stream);
  }
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;
  std::vector<cudaStream_t> of;
};

}  // namespace dcpscope::cuda::tests
