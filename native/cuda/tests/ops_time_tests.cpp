#include <cmath>

#include "cuda/ops/cache.h"
#include "cuda/ops/inputs.h"
#include "cuda/ops/neutralize.h"
#include "cuda/ops/sparse.h"
#include "cuda/ops/transport.h"
#include "cuda/tests/ops_bench.h"
#include "cuda/tests/suites.h"

/** What each kernel takes at a serving shape, as notes: 128 gathered heads, 8 ranks, bf16. */
namespace dcpscope::cuda::tests {
namespace {

constexpr int kHeads = 128;
constexpr int kRanks = 8;
constexpr int kKeyDim = 576;
constexpr int kValueDim = 512;
constexpr int kCalls = 50;

std::string ownTime(const std::function<void(cudaStream_t, Stamp*)>& call) {
  const StampProbe stamps;
  const double plain = medianMicroseconds(kCalls, [&](cudaStream_t stream) { call(stream, nullptr); });
  const double stamped = medianMicroseconds(kCalls, [&](cudaStream_t stream) { call(stream, stamps.get()); });
  stamps.check();
  return format("%.2f us, stamped %.2f us", plain, stamped);
}

/** A rank's buffers for `tokens` query tokens. */
struct Buffers {
  explicit Buffers(int tokens)
      : shape{tokens, kHeads, kRanks, kValueDim, false, false, false},
        out(int64_t{tokens} * kHeads * kValueDim, false),
        wire(out.count(), false),
        queries(int64_t{tokens} * kHeads * kKeyDim, false),
        gathered(queries.count(), false),
        merged(out.count() / kRanks, false),
        lse(std::vector<float>(static_cast<size_t>(tokens) * kHeads, 1.0F)),
        lses(std::vector<float>(static_cast<size_t>(tokens) * kHeads * kRanks, 1.0F)),
        messages(messageBytes(shape) * kRanks),
        received(messages.count()),
        bounds(std::vector<int32_t>(static_cast<size_t>(tokens), 1)),
        stats(tokens),
        own(std::vector<uint32_t>(kRanks, uint32_t{1} << 30)),
        told(kRanks),
        count(1),
        lost(1) {
    stats.fill(0);
    count.fill(0);
    lost.fill(0);
    flags.count = count.get();
    flags.patience = uint64_t{1} << 32;
    flags.lost = lost.get();
    out.upload(std::vector<float>(static_cast<size_t>(out.count()), 0.5F));
    for (int r = 0; r < kRanks; ++r) {
      lseOf.at[r] = lse.get();
      outOf.at[r] = out.get();
      // All peers have come to a turn that no test reaches, and what they are told goes elsewhere.
      flags.turns[r] = (r == 1 ? own : told).get();
      wireOf.at[r] = wire.get();
      messagesOf.at[r] = messages.get();
    }
  }

  TransportShape shape;
  Values out;
  Values wire;
  Values queries;
  Values gathered;
  Values merged;
  DeviceArray<float> lse;
  DeviceArray<float> lses;
  DeviceArray<uint8_t> messages;
  DeviceArray<uint8_t> received;
  DeviceArray<int32_t> bounds;
  DeviceArray<StatsRecord> stats;
  DeviceArray<uint32_t> own;
  DeviceArray<uint32_t> told;
  DeviceArray<PeerFlags::Count> count;
  DeviceArray<uint32_t> lost;
  RankBuffers lseOf{};
  RankBuffers outOf{};
  RankBuffers wireOf{};
  RankBuffers messagesOf{};
  PeerFlags flags{};
};

void time(Runner& runner, int tokens) {
  const std::string prefix = format("ops/time/tokens%d/", tokens);
  const auto timed = [&](const char* name,
                         const std::function<void(const Buffers&, cudaStream_t, Stamp*)>& call) {
    runner.test(prefix + name, [&] {
      const Buffers buffers(tokens);
      return ownTime([&](cudaStream_t stream, Stamp* stamps) { call(buffers, stream, stamps); });
    });
  };
  timed("q_all_gather", [](const Buffers& b, cudaStream_t stream, Stamp* stamps) {
    gatherQueries(b.queries.get(), b.gathered.get(), b.queries.count() * 2, stream, stamps);
  });
  const auto timedNeutralize = [&](const char* name, StatsOf statsOf) {
    timed(name, [=](const Buffers& b, cudaStream_t stream, Stamp* stamps) {
      neutralize({tokens, kHeads, kValueDim, false, b.out.get(), b.lse.get(), b.bounds.get(), statsOf,
                  b.stats.get()},
                 stream, stamps);
    });
  };
  timedNeutralize("neutralize", StatsOf::none);
  timedNeutralize("neutralize-statistics", StatsOf::allTokens);
  timedNeutralize("neutralize-statistics-without-keys", StatsOf::tokensWithoutKeys);
  timed("lse_all_gather", [](const Buffers& b, cudaStream_t stream, Stamp* stamps) {
    gatherLse(b.shape, b.lseOf, b.lses.get(), stream, stamps);
  });
  timed("lse_correct", [](const Buffers& b, cudaStream_t stream, Stamp* stamps) {
    correct(b.shape, 1, b.out.get(), b.lses.get(), b.wire.get(), stream, stamps);
  });
  timed("out_reduce_scatter", [](const Buffers& b, cudaStream_t stream, Stamp* stamps) {
    reduceScatter(b.shape, 1, b.wireOf, b.merged.get(), stream, stamps);
  });
  timed("pack", [](const Buffers& b, cudaStream_t stream, Stamp* stamps) {
    packMessages(b.shape, b.out.get(), b.lse.get(), b.messages.get(), stream, stamps);
  });
  timed("exchange", [](const Buffers& b, cudaStream_t stream, Stamp* stamps) {
    exchangeMessages(b.shape, 1, b.messagesOf, b.received.get(), stream, stamps);
  });
  timed("merge-p2p", [](const Buffers& b, cudaStream_t stream, Stamp* stamps) {
    mergePeers(b.shape, 1, b.outOf, b.lseOf, b.merged.get(), nullptr, stream, stamps);
  });
  timed("merge-p2p-flags", [](const Buffers& b, cudaStream_t stream, Stamp* stamps) {
    mergePeers(b.shape, 1, b.outOf, b.lseOf, b.merged.get(), &b.flags, stream, stamps);
  });
  timed("merge", [](const Buffers& b, cudaStream_t stream, Stamp* stamps) {
    mergeMessages(b.shape, b.received.get(), b.merged.get(), stream, stamps);
  });
}

}  // namespace

void opsTimeTests(Runner& runner) {
  if (runner.reduced()) return;
  for (const int tokens : {1, 64}) time(runner, tokens);
}

}  // namespace dcpscope::cuda::tests
