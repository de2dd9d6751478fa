#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include "core/lse.h"
#include "cuda/ops/neutralize.h"
#include "cuda/ops/transport.h"
#include "cuda/tests/ops_bench.h"
#include "cuda/tests/ops_peers.h"
#include "cuda/tests/suites.h"

namespace dcpscope::cuda::tests {
namespace {

constexpr float kInf = INFINITY;

/** Partials of all ranks of a group, on both sides. */
struct Group {
  Group(Random& random, bool outFp32, bool wireFp32) {
    const auto ranks = static_cast<int>(random.chance(0.15) ? random.integer(17, 64) : random.integer(1, 16));
    const auto perRank = static_cast<int>(random.integer(1, 128 / ranks));
    shape = {static_cast<int>(random.integer(1, ranks > 16 ? 2 : 12)),
             ranks * perRank,
             ranks,
             16 * static_cast<int>(random.integer(1, 32)),
             outFp32,
             wireFp32,
             random.chance(0.5),
             random.chance(0.3),
             random.chance(0.3),
             random.chance(0.2) ? 1.0F / static_cast<float>(ranks) : 0.0F};
    for (int r = 0; r < ranks; ++r) addRank(random);
    for (int64_t row = 0; row < rows(); ++row)
      if (random.chance(0.1))
        for (auto& values : lse) values[static_cast<size_t>(row)] = random.pick({NAN, kInf, -kInf});
    for (int r = 0; r < ranks; ++r) {
      deviceOut.push_back(std::make_unique<Values>(rows() * shape.valueDim, outFp32));
      deviceOut.back()->upload(out[static_cast<size_t>(r)]);
      deviceLse.push_back(std::make_unique<DeviceArray<float>>(lse[static_cast<size_t>(r)]));
    }
  }

  int64_t rows() const { return int64_t{shape.tokens} * shape.heads; }
  int headsPerRank() const { return shape.heads / shape.ranks; }
  /** Row of all heads that row `own` of a rank's heads is. */
  int64_t gathered(int rank, int64_t own) const {
    return own / headsPerRank() * shape.heads + rank * headsPerRank() + own % headsPerRank();
  }
  std::vector<float> column(int64_t row) const {
    std::vector<float> values;
    for (const auto& own : lse) values.push_back(own[static_cast<size_t>(row)]);
    return values;
  }
  float weight(int rank, int64_t row) const {
    const std::vector<float> values = column(row);
    const double total = lse::merged(values.data(), shape.ranks, 1, shape.base2);
    return lse::weight(values[static_cast<size_t>(rank)], total, {shape.base2, shape.emptyNan, shape.same});
  }
  /** Whether the payload of a row of this weight counts. */
  bool counts(float weight) const { return weight != 0 || shape.multipliesZeros; }
  /** What merging in double precision gives. */
  std::vector<double> merged(int rank) const {
    std::vector<double> result;
    for (int64_t own = 0; own < rows() / shape.ranks; ++own) {
      const int64_t row = gathered(rank, own);
      std::vector<double> sums(static_cast<size_t>(shape.valueDim), 0.0);
      for (int r = 0; r < shape.ranks; ++r) {
        const float w = weight(r, row);
        const float* values = &out[static_cast<size_t>(r)][static_cast<size_t>(row * shape.valueDim)];
        for (size_t v = 0; v < sums.size() && counts(w); ++v) sums[v] += static_cast<double>(w) * values[v];
      }
      result.insert(result.end(), sums.begin(), sums.end());
    }
    return result;
  }

  TransportShape shape{};
  std::vector<std::vector<float>> out;
  std::vector<std::vector<float>> lse;
  std::vector<std::unique_ptr<Values>> deviceOut;
  std::vector<std::unique_ptr<DeviceArray<float>>> deviceLse;

 private:
  /** Rows without keys hold NaN, which a weight of 0 lets through only where it multiplies. */
  void addRank(Random& random) {
    std::vector<float> values;
    std::vector<float> lses;
    for (int64_t row = 0; row < rows(); ++row) {
      const bool none = random.chance(0.2);
      lses.push_back(none ? random.pick({NAN, kInf, -kInf}) : random.normal() * 4.0F);
      for (int v = 0; v < shape.valueDim; ++v)
        values.push_back(none ? NAN : rounded(random.normal(), shape.outFp32));
    }
    out.push_back(std::move(values));
    lse.push_back(std::move(lses));
  }
};

template <class Buffers>
RankBuffers addresses(const Buffers& buffers) {
  RankBuffers result{};
  for (size_t r = 0; r < buffers.size(); ++r) result.at[r] = buffers[r]->get();
  return result;
}

/** Relative error of a value that was rounded once to its type, with slack for fp32 arithmetic before. */
double tolerance(bool fp32) { return fp32 ? 1e-5 : 1.0 / 256 + 1e-5; }

/** Recursive halving with rounding, straight from its definition. */
float pairSum(const std::vector<float>& values, bool fp32) {
  std::vector<float> left = values;
  while (left.size() > 1) {
    std::vector<float> next;
    for (size_t i = 0; i + 1 < left.size(); i += 2) next.push_back(rounded(left[i] + left[i + 1], fp32));
    if (left.size() % 2 == 1) next.push_back(left.back());
    left = next;
  }
  return left[0];
}

void expectWeighted(const Group& group, int rank, const std::vector<float>& wire) {
  std::vector<double> want;
  const auto& out = group.out[static_cast<size_t>(rank)];
  const int64_t own = group.rows() / group.shape.ranks;
  for (int64_t at = 0; at < group.rows(); ++at) {
    const int64_t row = group.gathered(static_cast<int>(at / own), at % own);
    const float weight = group.weight(rank, row);
    for (int v = 0; v < group.shape.valueDim; ++v)
      want.push_back(!group.counts(weight) ? 0.0
                                           : static_cast<double>(weight) *
                                                 out[static_cast<size_t>(row * group.shape.valueDim + v)]);
  }
  expectClose(wire, want, tolerance(group.shape.wireFp32), 1e-38, "weighted partial");
}

std::vector<float> scattered(const Group& group, int rank, const std::vector<std::vector<float>>& wires) {
  std::vector<float> want;
  const int64_t perRank = group.rows() / group.shape.ranks;
  for (int64_t own = 0; own < perRank; ++own)
    for (int v = 0; v < group.shape.valueDim; ++v) {
      std::vector<float> addends;
      for (const auto& wire : wires)
        addends.push_back(wire[static_cast<size_t>((rank * perRank + own) * group.shape.valueDim + v)]);
      want.push_back(rounded(pairSum(addends, group.shape.wireFp32), group.shape.outFp32));
    }
  return want;
}

void agRs(Random& random, bool outFp32, bool wireFp32) {
  const Group group(random, outFp32, wireFp32);
  const TransportShape& shape = group.shape;
  DeviceArray<float> lses(group.rows() * shape.ranks);
  lses.fill(0x77);
  const StampProbe stamps[3];
  gatherLse(shape, addresses(group.deviceLse), lses.get(), nullptr, stamps[0].get());
  std::vector<float> wantLses;
  for (const auto& own : group.lse) wantLses.insert(wantLses.end(), own.begin(), own.end());
  expectSame(lses.download(), wantLses, "gathered lse");
  std::vector<std::unique_ptr<Values>> wires;
  std::vector<std::vector<float>> hostWires;
  for (int r = 0; r < shape.ranks; ++r) {
    wires.push_back(std::make_unique<Values>(group.rows() * shape.valueDim, wireFp32));
    correct(shape, r, group.deviceOut[static_cast<size_t>(r)]->get(), lses.get(), wires.back()->get(),
            nullptr, stamps[1].get());
    hostWires.push_back(wires.back()->download());
    expectWeighted(group, r, hostWires.back());
    wires.back()->checkGuards("wire");
  }
  const auto rank = static_cast<int>(random.integer(0, shape.ranks - 1));
  const Values merged(group.rows() / shape.ranks * shape.valueDim, outFp32);
  reduceScatter(shape, rank, addresses(wires), merged.get(), nullptr, stamps[2].get());
  expectSame(merged.download(), scattered(group, rank, hostWires), "merged");
  expectClose(merged.download(), group.merged(rank), 0.02, shape.wireFp32 && outFp32 ? 1e-5 : 0.05,
              "merged against fp64");
  lses.checkGuards("lses");
  merged.checkGuards("merged");
  for (const StampProbe& stamp : stamps) stamp.check();
}

/** Slices and lse of one rank for one other, as a message holds them. */
void expectMessage(const Group& group, int from, int to, const uint8_t* message) {
  const TransportShape& shape = group.shape;
  const int64_t own = group.rows() / shape.ranks;
  const int bytes = shape.wireFp32 ? 4 : 2;
  for (int64_t row = 0; row < own; ++row) {
    const int64_t at = group.gathered(to, row);
    for (int v = 0; v < shape.valueDim; ++v) {
      const float want = rounded(
          group.out[static_cast<size_t>(from)][static_cast<size_t>(at * shape.valueDim + v)], shape.wireFp32);
      uint32_t bits = 0;
      std::memcpy(&bits, message + (row * shape.valueDim + v) * bytes, static_cast<size_t>(bytes));
      if (!shape.wireFp32) bits <<= 16;
      float got = 0;
      std::memcpy(&got, &bits, 4);
      expect(std::isnan(want) ? std::isnan(got) : got == want,
             format("message from %d, row %lld", from, static_cast<long long>(row)));
    }
    expect(std::memcmp(message + own * shape.valueDim * bytes + row * 4,
                       &group.lse[static_cast<size_t>(from)][static_cast<size_t>(at)], 4) == 0,
           format("lse of the message from %d, row %lld", from, static_cast<long long>(row)));
  }
}

void a2a(Random& random, bool outFp32, bool wireFp32) {
  const Group group(random, outFp32, wireFp32);
  const TransportShape& shape = group.shape;
  const int64_t bytes = messageBytes(shape);
  const StampProbe stamps[3];
  std::vector<std::unique_ptr<DeviceArray<uint8_t>>> sends;
  for (int r = 0; r < shape.ranks; ++r) {
    sends.push_back(std::make_unique<DeviceArray<uint8_t>>(bytes * shape.ranks));
    sends.back()->fill(0xff);
    packMessages(shape, group.deviceOut[static_cast<size_t>(r)]->get(),
                 group.deviceLse[static_cast<size_t>(r)]->get(), sends.back()->get(), nullptr,
                 stamps[0].get());
    sends.back()->checkGuards("messages");
  }
  const auto rank = static_cast<int>(random.integer(0, shape.ranks - 1));
  DeviceArray<uint8_t> received(bytes * shape.ranks);
  received.fill(0xff);
  exchangeMessages(shape, rank, addresses(sends), received.get(), nullptr, stamps[1].get());
  const std::vector<uint8_t> messages = received.download();
  for (int r = 0; r < shape.ranks; ++r)
    expectMessage(group, r, rank, &messages[static_cast<size_t>(r * bytes)]);
  const Values merged(group.rows() / shape.ranks * shape.valueDim, outFp32);
  mergeMessages(shape, received.get(), merged.get(), nullptr, stamps[2].get());
  const bool exact = outFp32 && wireFp32;
  expectClose(merged.download(), group.merged(rank), exact ? 1e-5 : 1.0 / 256,
              outFp32 && !wireFp32 ? 0.02 : 2e-5, "merged against fp64");
  received.checkGuards("received");
  merged.checkGuards("merged");
  for (const StampProbe& stamp : stamps) stamp.check();
}

void expectMerged(const Group& group, int rank, const Values& merged) {
  expectClose(merged.download(), group.merged(rank), group.shape.outFp32 ? 1e-5 : 1.0 / 256, 2e-5,
              "merged against fp64");
  merged.checkGuards("merged");
}

/** Ranks that a stream has brought together. */
void p2p(Random& random, bool outFp32) {
  const Group group(random, outFp32, outFp32);
  const auto rank = static_cast<int>(random.integer(0, group.shape.ranks - 1));
  const Values merged(group.rows() / group.shape.ranks * group.shape.valueDim, outFp32);
  const StampProbe stamps;
  mergePeers(group.shape, rank, addresses(group.deviceOut), addresses(group.deviceLse), merged.get(), nullptr,
             nullptr, stamps.get());
  expectMerged(group, rank, merged);
  stamps.check();
}

/** A group small enough that the kernels of all its ranks run at once, each stream in a queue of its own. */
Group smallGroup(Random& random, bool outFp32) {
  Group group(random, outFp32, outFp32);
  while (group.shape.ranks < 2 || group.shape.ranks > 4) group = Group(random, outFp32, outFp32);
  return group;
}

/** Ranks that wait for each other. */
void waits(Random& random, bool outFp32) {
  const Group group = smallGroup(random, outFp32);
  const int ranks = group.shape.ranks;
  const Flags flags(ranks, uint64_t{10} * 1000 * 1000 * 1000);
  std::vector<std::unique_ptr<Values>> merged;
  for (int r = 0; r < ranks; ++r)
    merged.push_back(std::make_unique<Values>(group.rows() / ranks * group.shape.valueDim, outFp32));
  playTurns(random, ranks, 5, [&](int r, cudaStream_t stream) {
    mergePeers(group.shape, r, addresses(group.deviceOut), addresses(group.deviceLse),
               merged[static_cast<size_t>(r)]->get(), &flags.of[static_cast<size_t>(r)], stream, nullptr);
  });
  for (int r = 0; r < ranks; ++r) expectMerged(group, r, *merged[static_cast<size_t>(r)]);
  flags.checkAt(5);
}

/** One rank never comes: the others say which, write nothing, and do not wait again. */
void loses(Random& random) {
  const Group group = smallGroup(random, false);
  const int ranks = group.shape.ranks;
  const auto missing = static_cast<int>(random.integer(0, ranks - 1));
  const Flags flags(ranks, uint64_t{20} * 1000 * 1000);
  std::vector<std::unique_ptr<Values>> merged;
  std::vector<std::vector<float>> before;
  for (int r = 0; r < ranks; ++r) {
    merged.push_back(std::make_unique<Values>(group.rows() / ranks * group.shape.valueDim, false));
    before.push_back(merged.back()->download());
  }
  playTurns(random, ranks, 3, [&](int r, cudaStream_t stream) {
    if (r == missing) return;
    mergePeers(group.shape, r, addresses(group.deviceOut), addresses(group.deviceLse),
               merged[static_cast<size_t>(r)]->get(), &flags.of[static_cast<size_t>(r)], stream, nullptr);
  });
  const std::vector<uint32_t> lost = flags.lost.download();
  for (int r = 0; r < ranks; ++r) {
    expectSame(merged[static_cast<size_t>(r)]->download(), before[static_cast<size_t>(r)],
               "what was not merged");
    const uint32_t want = r == missing ? 0 : static_cast<uint32_t>(missing) + 1;
    expect(lost[static_cast<size_t>(r)] == want,
           format("rank %d misses %u instead of %u", r, lost[static_cast<size_t>(r)], want));
  }
  flags.checkGuards();
}

}  // namespace

void opsTransportTests(Runner& runner) {
  const int times = runner.reduced() ? 2 : 20;
  for (const bool outFp32 : {false, true})
    for (const bool wireFp32 : {false, true}) {
      const std::string types =
          std::string(outFp32 ? "out-fp32" : "out-bf16") + (wireFp32 ? "/wire-fp32" : "/wire-bf16");
      randomTest(runner, "ops/ag_rs/" + types, times,
                 [=](Random& random) { agRs(random, outFp32, wireFp32); });
      randomTest(runner, "ops/a2a/" + types, times, [=](Random& random) { a2a(random, outFp32, wireFp32); });
    }
  for (const bool outFp32 : {false, true}) {
    const std::string type = outFp32 ? "out-fp32" : "out-bf16";
    randomTest(runner, "ops/p2p/" + type, times, [=](Random& random) { p2p(random, outFp32); });
    randomTest(runner, "ops/p2p/" + type + "/waits", times, [=](Random& random) { waits(random, outFp32); });
  }
  randomTest(runner, "ops/p2p/loses", 2, loses);
}

}  // namespace dcpscope::cuda::tests
