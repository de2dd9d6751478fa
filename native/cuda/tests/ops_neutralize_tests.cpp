#include <algorithm>
#include <cmath>

#include "cuda/ops/neutralize.h"
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
