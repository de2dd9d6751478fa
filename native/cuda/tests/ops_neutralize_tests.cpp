#include <cmath>

#include "cuda/ops/neutralize.h"
#include "cuda/tests/ops_bench.h"
#include "cuda/tests/suites.h"

namespace dcpscope::cuda::tests {
namespace {

constexpr float kInf = INFINITY;

/** A partial with anything in it. */
struct Partial {
  Partial(Random& random, bool outFp32, bool special) : fp32(outFp32) {
    tokens = static_cast<int>(random.integer(1, 70));
    heads = static_cast<int>(random.integer(1, 128));
    valueDim = 16 * static_cast<int>(random.integer(1, 32));
    for (int t = 0; t < tokens; ++t)
      bounds.push_back(random.chance(0.3) ? 0 : static_cast<int32_t>(random.integer(1, 9)));
    const double rare = special ? random.pick({0.0, 1e-4, 0.05}) : 0.0;
    for (int64_t i = 0; i < values(); ++i)
      out.push_back(random.chance(rare) ? random.pick({NAN, -NAN, kInf, -kInf})
                                        : rounded(random.normal() * 100.0F, fp32));
    const double odd = special ? random.pick({0.0, 0.3, 1.0}) : 0.0;
    for (int i = 0; i < tokens * heads; ++i)
      lse.push_back(random.chance(odd) ? random.pick({NAN, kInf, -kInf}) : random.normal());
  }

  int64_t perToken() const { return static_cast<int64_t>(heads) * valueDim; }
  int64_t values() const { return tokens * perToken(); }

  bool fp32;
  int tokens;
  int heads;
  int valueDim;
  std::vector<int32_t> bounds;
  std::vector<float> out;
  std::vector<float> lse;
};

TokenStats statsOf(const Partial& partial, int token) {
  TokenStats stats{0, 0, 0, 0, NAN, NAN};
  const int64_t begin = token * partial.perToken();
  for (int64_t i = begin; i < begin + partial.perToken(); ++i) {
    const float value = partial.out[static_cast<size_t>(i)];
    if (std::isnan(value)) ++stats.outNan;
    if (std::isinf(value)) ++stats.outInf;
    if (std::isfinite(value)) stats.outAbsmax = std::fmax(stats.outAbsmax, std::fabs(value));
  }
  for (int h = 0; h < partial.heads; ++h) {
    const float value = partial.lse[static_cast<size_t>(token) * partial.heads + h];
    if (std::isnan(value)) ++stats.lseNan;
    stats.lseMin = std::fmin(stats.lseMin, value);
    stats.lseMax = std::fmax(stats.lseMax, value);
  }
  return stats;
}

bool same(float a, float b) { return std::isnan(a) ? std::isnan(b) : a == b; }

void expectStats(const Partial& partial, const std::vector<TokenStats>& parts) {
  const int perToken = neutralizeParts(partial.heads, partial.valueDim, partial.fp32);
  for (int t = 0; t < partial.tokens; ++t) {
    const TokenStats want = statsOf(partial, t);
    const TokenStats got = foldStats(&parts[static_cast<size_t>(t) * perToken], perToken);
    expect(got.outNan == want.outNan && got.outInf == want.outInf,
           format("token %d: %d NaN and %d infinities instead of %d and %d", t, got.outNan, got.outInf,
                  want.outNan, want.outInf));
    expect(got.outAbsmax == want.outAbsmax,
           format("token %d: largest magnitude %g instead of %g", t, static_cast<double>(got.outAbsmax),
                  static_cast<double>(want.outAbsmax)));
    expect(got.lseNan == want.lseNan && same(got.lseMin, want.lseMin) && same(got.lseMax, want.lseMax),
           format("token %d: lse %d NaN, %g to %g instead of %d, %g to %g", t, got.lseNan,
                  static_cast<double>(got.lseMin), static_cast<double>(got.lseMax), want.lseNan,
                  static_cast<double>(want.lseMin), static_cast<double>(want.lseMax)));
  }
}

void neutralizes(Random& random, bool fp32, bool withStats) {
  const Partial partial(random, fp32, random.chance(0.8));
  const DeviceArray<int32_t> bounds(partial.bounds);
  Values out(partial.values(), fp32);
  out.upload(partial.out);
  const DeviceArray<float> lse(partial.lse);
  DeviceArray<TokenStats> stats(int64_t{partial.tokens} *
                                neutralizeParts(partial.heads, partial.valueDim, fp32));
  stats.fill(0xff);
  const StampProbe stamps;
  neutralize({partial.tokens, partial.heads, partial.valueDim, fp32, out.get(), lse.get(), bounds.get(),
              withStats ? stats.get() : nullptr},
             nullptr, stamps.get());
  std::vector<float> wantOut = partial.out;
  std::vector<float> wantLse = partial.lse;
  for (int t = 0; t < partial.tokens; ++t) {
    if (partial.bounds[static_cast<size_t>(t)] > 0) continue;
    std::fill_n(wantOut.begin() + t * partial.perToken(), partial.perToken(), 0.0F);
    std::fill_n(wantLse.begin() + int64_t{t} * partial.heads, partial.heads, -kInf);
  }
  expectSame(out.download(), wantOut, "out");
  expectSame(lse.download(), wantLse, "lse");
  if (withStats) expectStats(partial, stats.download());
  out.checkGuards("out");
  lse.checkGuards("lse");
  stats.checkGuards("statistics");
  stamps.check();
}

void countsNan(Random& random, bool fp32) {
  const Partial partial(random, fp32, random.chance(0.8));
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
    for (const bool stats : {false, true})
      randomTest(runner, "ops/neutralize/" + type + (stats ? "/statistics" : "/plain"), times,
                 [=](Random& random) { neutralizes(random, fp32, stats); });
    randomTest(runner, "ops/count-nan/" + type, times, [=](Random& random) { countsNan(random, fp32); });
  }
}

}  // namespace dcpscope::cuda::tests
