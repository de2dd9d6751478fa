#include <algorithm>
#include <cmath>

#include "core/stale.h"
#include "cuda/ops/kernel_lse.h"
#include "cuda/ops/neutralize.h"
#include "cuda/ops/transport.h"
#include "cuda/tests/ops_bench.h"
#include "cuda/tests/ops_partial.h"
#include "cuda/tests/suites.h"

namespace dcpscope::cuda::tests {
namespace {

RandomPartial anyPartial(Random& random, bool fp32) {
  const auto tokens = static_cast<int>(random.integer(1, 70));
  const auto heads = static_cast<int>(random.integer(1, 128));
  return {random, tokens, heads, 16 * static_cast<int>(random.integer(1, 32)), fp32, random.chance(0.8)};
}

void neutralizes(Random& random, bool fp32, StatsOf statsOf) {
  const RandomPartial partial = anyPartial(random, fp32);
  const DeviceArray<int32_t> bounds(partial.bounds);
  Values out(partial.values(), fp32);
  DeviceArray<float> lse(static_cast<int64_t>(partial.lse.size()));
  DeviceArray<StatsRecord> stats(partial.tokens);
  std::vector<float> wantOut = partial.out;
  std::vector<float> wantLse = partial.lse;
  for (int t = 0; t < partial.tokens; ++t) {
    if (partial.hasKeys(t)) continue;
    std::fill_n(wantOut.begin() + t * partial.perToken(), partial.perToken(), 0.0F);
    std::fill_n(wantLse.begin() + int64_t{t} * partial.heads, partial.heads, -INFINITY);
  }
  // Two steps, each with records that were cleared.
  for (int step = 0; step < 2; ++step) {
    out.upload(partial.out);
    lse.upload(partial.lse);
    stats.fill(0);
    const StampProbe stamps;
    neutralize({partial.tokens, partial.heads, partial.valueDim, fp32, out.get(), lse.get(), bounds.get(),
                statsOf, statsOf == StatsOf::none ? nullptr : stats.get()},
               nullptr, stamps.get());
    expectSame(out.download(), wantOut, "out");
    expectSame(lse.download(), wantLse, "lse");
    expectStats(partial, stats.download(), [&](int token) {
      return statsOf == StatsOf::allTokens ||
             (statsOf == StatsOf::tokensWithoutKeys && !partial.hasKeys(token));
    });
    stamps.check();
  }
  out.checkGuards("out");
  lse.checkGuards("lse");
  stats.checkGuards("statistics");
}

LsePlace anyPlace(Random& random, const RandomPartial& partial) {
  int qLen = static_cast<int>(random.integer(1, 8));
  while (partial.tokens % qLen != 0) --qLen;
  const int64_t heads = partial.heads + (random.chance(0.5) ? random.integer(1, 128) : 0);
  const auto layout = random.pick({LseLayout::tokens, LseLayout::requests, LseLayout::heads});
  return {layout, partial.tokens, heads, qLen};
}

/** fp32 and bf16 values as the kernel keeps them: every bit is compared. */
void expectKept(const KernelLse& kept, const RandomPartial& partial) {
  for (int64_t t = 0; t < partial.tokens; ++t)
    for (int64_t h = 0; h < kept.place.heads; ++h) {
      const auto row = static_cast<size_t>(t * partial.heads + h);
      const float own = h < partial.heads ? partial.lse[row] : kStaleLse;
      const float want = kept.bf16 ? fromBf16(toBf16(own)) : own;
      const float got = kept.get(kept.place.at(t, h));
      expect(std::isnan(want) ? std::isnan(got) : got == want,
             format("token %lld, head %lld: lse %g instead of %g", static_cast<long long>(t),
                    static_cast<long long>(h), static_cast<double>(got), static_cast<double>(want)));
    }
}

/** An lse that goes through the layout and type of a kernel, and comes back when rows are made neutral. */
void laysOutAndBrings(Random& random, bool bf16, StatsOf statsOf) {
  RandomPartial partial = anyPartial(random, false);
  const LsePlace place = anyPlace(random, partial);
  const DeviceArray<int32_t> bounds(partial.bounds);
  Values out(partial.values(), false);
  DeviceArray<float> lse(static_cast<int64_t>(partial.lse.size()));
  const LseReading reading =
      random.pick({LseReading::right, LseReading::right, LseReading::transposed, LseReading::untrimmed});
  DeviceArray<uint8_t> kept(place.size() * (bf16 ? 2 : 4));
  DeviceArray<StatsRecord> stats(partial.tokens);
  out.upload(partial.out);
  lse.upload(partial.lse);
  kept.fill(0x33);
  stats.fill(0);
  StampProbe before;
  stampBegin(before.get(), nullptr);
  stampEnd(before.get(), nullptr);
  const Stamp first = before.first();
  layOutLse(lse.get(), partial.heads, {place, bf16, kept.get()}, nullptr, before.get());
  std::vector<uint8_t> host = kept.download();
  expectKept({place, bf16, host.data()}, partial);
  expect(before.first().begin == first.begin && before.first().end > first.end,
         "the stamp of the kernel before does not end with the laying out");
  // What attention wrote is not looked at again.
  lse.fill(0x55);
  const StampProbe stamps;
  neutralize({partial.tokens, partial.heads, partial.valueDim, false, out.get(), lse.get(), bounds.get(),
              statsOf, statsOf == StatsOf::none ? nullptr : stats.get()},
             {place, bf16, kept.get()}, reading, nullptr, stamps.get());
  for (size_t row = 0; row < partial.lse.size(); ++row)
    partial.lse[row] = KernelLse{place, bf16, host.data()}.get(
        place.readAt(static_cast<int64_t>(row), partial.heads, reading));
  std::vector<float> wantOut = partial.out;
  std::vector<float> wantLse = partial.lse;
  for (int t = 0; t < partial.tokens; ++t) {
    if (partial.hasKeys(t)) continue;
    std::fill_n(wantOut.begin() + t * partial.perToken(), partial.perToken(), 0.0F);
    std::fill_n(wantLse.begin() + int64_t{t} * partial.heads, partial.heads, -INFINITY);
  }
  expectSame(out.download(), wantOut, "out");
  expectSame(lse.download(), wantLse, "lse");
  expectStats(partial, stats.download(), [&](int) { return statsOf == StatsOf::allTokens; });
  stamps.check();
  lse.checkGuards("lse");
  kept.checkGuards("the kernel's lse");
  stats.checkGuards("statistics");
}

void countsNan(Random& random, bool fp32) {
  const RandomPartial partial = anyPartial(random, fp32);
  Values values(partial.values(), fp32);
  values.upload(partial.out);
  DeviceArray<NanCount> found(partial.tokens);
  found.fill(0x77);
  countNan(values.get(), fp32, partial.tokens, static_cast<int>(partial.perToken()), found.get(), nullptr);
  const std::vector<NanCount> got = found.download();
  for (int t = 0; t < partial.tokens; ++t) {
    NanCount want{0, -1};
    for (int64_t i = 0; i < partial.perToken(); ++i) {
      if (!std::isnan(partial.out[static_cast<size_t>(t * partial.perToken() + i)])) continue;
      if (want.count++ == 0) want.first = static_cast<int32_t>(i);
    }
    const NanCount& here = got[static_cast<size_t>(t)];
    expect(here.count == want.count && here.first == want.first,
           format("token %d: %d NaN from %d on instead of %d from %d on", t, here.count, here.first,
                  want.count, want.first));
  }
  found.checkGuards("counts");
}

}  // namespace

void opsNeutralizeTests(Runner& runner) {
  const int times = runner.reduced() ? 2 : 20;
  for (const bool bf16 : {false, true}) {
    const std::string name = std::string("ops/lse-apart/") + (bf16 ? "bf16" : "fp32");
    randomTest(runner, name + "/plain", times,
               [=](Random& random) { laysOutAndBrings(random, bf16, StatsOf::none); });
    randomTest(runner, name + "/statistics", times,
               [=](Random& random) { laysOutAndBrings(random, bf16, StatsOf::allTokens); });
  }
  for (const bool fp32 : {false, true}) {
    const std::string type = fp32 ? "fp32" : "bf16";
    const auto test = [&](const char* name, StatsOf statsOf) {
      randomTest(runner, "ops/neutralize/" + type + name, times,
                 [=](Random& random) { neutralizes(random, fp32, statsOf); });
    };
    test("/plain", StatsOf::none);
    test("/statistics", StatsOf::allTokens);
    test("/statistics-without-keys", StatsOf::tokensWithoutKeys);
    randomTest(runner, "ops/count-nan/" + type, times, [=](Random& random) { countsNan(random, fp32); });
  }
}

}  // namespace dcpscope::cuda::tests
