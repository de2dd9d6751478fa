#pragma once
#include <cmath>
#include <limits>

/** Log-sum-exp in base b, e or 2. The neutral element of a merge is (out 0, lse -inf). */
namespace dcpscope::lse {

constexpr float kNone = -std::numeric_limits<float>::infinity();

/** NaN and +inf say "no keys", like -inf: several kernels write them. */
inline float effective(float lse) {
  return std::isnan(lse) || lse == std::numeric_limits<float>::infinity() ? kNone : lse;
}

inline double power(double x, bool base2) { return base2 ? std::exp2(x) : std::exp(x); }
inline double logarithm(double x, bool base2) { return base2 ? std::log2(x) : std::log(x); }

/** log_b of the sum of b^lse over `count` partials that lie `stride` apart; -inf when all are neutral. */
inline double merged(const float* lses, int count, int64_t stride, bool base2) {
  float most = kNone;
  for (int i = 0; i < count; ++i) most = std::fmax(most, effective(lses[i * stride]));
  if (most == kNone) return kNone;
  double total = 0;
  for (int i = 0; i < count; ++i) {
    const float own = effective(lses[i * stride]);
    if (own != kNone) total += power(static_cast<double>(own) - most, base2);
  }
  return most + logarithm(total, base2);
}

/** How a merge weights partials. */
struct MergeRule {
  bool base2;
  /** Weights are NaN where all partials are neutral, as -inf - -inf is; else 0. */
  bool emptyNan = false;
  /** Weight of every partial whatever its lse; 0: by its lse. */
  float same = 0;
};

/** Weight of a partial in a merge whose log-sum-exp is `total`; 0 for neutral ones. */
inline float weight(float own, double total, const MergeRule& rule) {
  if (rule.same > 0) return rule.same;
  if (rule.emptyNan && total == static_cast<double>(kNone)) return std::numeric_limits<float>::quiet_NaN();
  const float lse = effective(own);
  return lse == kNone ? 0.0F : static_cast<float>(power(lse - total, rule.base2));
}

}  // namespace dcpscope::lse
