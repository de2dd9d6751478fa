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

  /** All ranks have been through `turns` kernels that wait, and none was lost. */
  void checkAt(uint32_t turns) const {
    for (const PeerFlags::Count& at : counts.download())
      expect(at.turn == turns && at.blocks == 0,
             format("a rank is at turn %u with %u blocks", at.turn, at.blocks));
    for (const uint32_t rank : lost.download()) expect(rank == 0, format("rank %u is lost", rank - 1));
    checkGuards();
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

/** Calls launch(rank, stream) for all ranks in some turns, in another order each time, each of them late in
 * some; returns when what was launched is over. */
template <class F>
void playTurns(Random& random, int ranks, int turns, F&& launch) {
  const Streams streams(ranks);
  cudaCheck(cudaDeviceSynchronize(), "what the ranks begin with: their streams do not wait for it");
  std::vector<int> order(static_cast<size_t>(ranks));
  for (int r = 0; r < ranks; ++r) order[static_cast<size_t>(r)] = r;
  for (int turn = 0; turn < turns; ++turn) {
    random.shuffle(order);
    for (const int r : order) launch(r, streams.of[static_cast<size_t>(r)]);
  }
  cudaCheck(cudaDeviceSynchronize(), "ranks that wait for each other");
}

}  // namespace dcpscope::cuda::tests
