#include <algorithm>
#include <memory>
#include <vector>

#include "cuda/ops/transport.h"
#include "cuda/tests/ops_peers.h"
#include "cuda/tests/suites.h"

namespace dcpscope::cuda::tests {
namespace {

/** Queries of each rank's own heads, and what they are together. */
struct Slices {
  Slices(Random& random, int mostRanks) {
    const auto ranks = static_cast<int>(random.integer(1, mostRanks));
    shape = {static_cast<int>(random.integer(1, 12)),
             ranks * static_cast<int>(random.integer(1, 128 / ranks)),
             ranks,
             512,
             false,
             false,
             false};
    keyDim = 16 * static_cast<int>(random.integer(1, 48));
    const int perRank = shape.heads / ranks;
    all.resize(static_cast<size_t>(shape.tokens) * shape.heads * keyDim);
    for (uint16_t& value : all) value = static_cast<uint16_t>(random.integer(0, 0xffff));
    for (int r = 0; r < ranks; ++r) {
      std::vector<uint16_t> own;
      for (int t = 0; t < shape.tokens; ++t) {
        const auto first = all.begin() + (static_cast<int64_t>(t) * shape.heads + r * perRank) * keyDim;
        own.insert(own.end(), first, first + static_cast<int64_t>(perRank) * keyDim);
      }
      device.push_back(std::make_unique<DeviceArray<uint16_t>>(own));
      addresses.at[r] = device.back()->get();
    }
  }

  std::unique_ptr<DeviceArray<uint16_t>> room() const {
    auto to = std::make_unique<DeviceArray<uint16_t>>(static_cast<int64_t>(all.size()));
    to->fill(0xff);
    return to;
  }

  TransportShape shape{};
  int keyDim = 0;
  std::vector<uint16_t> all;
  std::vector<std::unique_ptr<DeviceArray<uint16_t>>> device;
  RankBuffers addresses{};
};

void bringsHeadsTogether(Random& random) {
  const Slices slices(random, 64);
  const auto to = slices.room();
  const StampProbe stamps;
  gatherHeads(slices.shape, slices.keyDim, 0, slices.addresses, to->get(), nullptr, nullptr, stamps.get());
  expect(to->download() == slices.all, "gathered queries");
  to->checkGuards("gathered queries");
  stamps.check();
}

/** Ranks that wait for each other. */
void waitsForPeers(Random& random) {
  // As many streams have a queue each.
  const Slices slices(random, 4);
  const int ranks = slices.shape.ranks;
  const Flags flags(ranks, uint64_t{10} * 1000 * 1000 * 1000);
  std::vector<std::unique_ptr<DeviceArray<uint16_t>>> gathered;
  for (int r = 0; r < ranks; ++r) gathered.push_back(slices.room());
  playTurns(random, ranks, 5, [&](int r, cudaStream_t stream) {
    gatherHeads(slices.shape, slices.keyDim, r, slices.addresses, gathered[static_cast<size_t>(r)]->get(),
                &flags.of[static_cast<size_t>(r)], stream, nullptr);
  });
  for (const auto& one : gathered) expect(one->download() == slices.all, "gathered queries");
  flags.checkAt(5);
}

/** Work between the two stamps lies between their times, and the first announces it. */
void stampsBorders(Random&) {
  const StampProbe stamps;
  stampBegin(stamps.get(), nullptr);
  stampEnd(stamps.get(), nullptr);
  stamps.check();
  stampBegin(nullptr, nullptr);
  stampEnd(nullptr, nullptr);
  cudaCheck(cudaDeviceSynchronize(), "no stamps");
}

}  // namespace

void opsGatherTests(Runner& runner) {
  const int times = runner.reduced() ? 2 : 20;
  randomTest(runner, "ops/gather_heads/plain", times, bringsHeadsTogether);
  randomTest(runner, "ops/gather_heads/waits", times, waitsForPeers);
  randomTest(runner, "ops/border_stamps", 1, stampsBorders);
}

}  // namespace dcpscope::cuda::tests
