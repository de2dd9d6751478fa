#pragma once
#include <cmath>
#include <functional>
#include <vector>

#include "cuda/ops/token_stats.h"
#include "cuda/tests/ops_bench.h"

namespace dcpscope::cuda::tests {

/** A rank's partial with anything in it. */
struct RandomPartial {
  RandomPartial(Random& random, int ofTokens, int ofHeads, int ofValues, bool outFp32, bool special)
      : fp32(outFp32), tokens(ofTokens), heads(ofHeads), valueDim(ofValues) {
    for (int t = 0; t < tokens; ++t)
      bounds.push_back(random.chance(0.3) ? 0 : static_cast<int32_t>(random.integer(1, 9)));
    const double rare = special ? random.pick({0.0, 1e-4, 0.05, 1.0}) : 0.0;
    for (int64_t i = 0; i < values(); ++i)
      out.push_back(random.chance(rare) ? random.pick({NAN, -NAN, INFINITY, -INFINITY})
                                        : rounded(random.normal() * 100.0F, fp32));
    const double odd = special ? random.pick({0.0, 0.3, 1.0}) : 0.0;
    for (int i = 0; i < tokens * heads; ++i)
      lse.push_back(random.chance(odd) ? random.pick({NAN, INFINITY, -INFINITY}) : random.normal());
  }

  int64_t perToken() const { return static_cast<int64_t>(heads) * valueDim; }
  int64_t values() const { return tokens * perToken(); }
  bool hasKeys(int token) const { return bounds[static_cast<size_t>(token)] > 0; }

  bool fp32;
  int tokens;
  int heads;
  int valueDim;
  std::vector<int32_t> bounds;
  std::vector<float> out;
  std::vector<float> lse;
};

inline TokenStats statsOf(const RandomPartial& partial, int token) {
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

/** Throws a Failure unless `records` say of the `taken` tokens what the partial holds, and nothing of the
 * others. */
inline void expectStats(const RandomPartial& partial, const std::vector<StatsRecord>& records,
                        const std::function<bool(int token)>& taken) {
  const auto same = [](float a, float b) { return std::isnan(a) ? std::isnan(b) : a == b; };
  for (int t = 0; t < partial.tokens; ++t) {
    const TokenStats want = taken(t) ? statsOf(partial, t) : TokenStats{0, 0, 0, 0, NAN, NAN};
    const TokenStats got = decode(records[static_cast<size_t>(t)]);
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

}  // namespace dcpscope::cuda::tests
