#pragma once
#include "core/simd.h"

/** Online softmax of one query row in double precision, which both references share. */
namespace dcpscope::DCPSCOPE_ISA {
namespace {

constexpr int kHalf = kLanes / 2;
constexpr double kNegInf = -__builtin_inf();

/** Turns one row's scores into weights against its running maximum; returns the factor for what was summed
 * before. */
double softmaxRow(double* scores, int keys, int padded, double scale2, double& top, double& total) {
  double most = kNegInf;
  for (int k = 0; k < keys; ++k) {
    scores[k] *= scale2;
    most = scores[k] > most ? scores[k] : most;
  }
  for (int k = keys; k < padded; ++k) scores[k] = kNegInf;
  const double before = top;
  top = most > top ? most : top;
  vd tile = {};
  for (int k = 0; k < padded; k += kHalf) {
    const vd weight = exp2Negative(load<vd>(scores + k) - top);
    store(scores + k, weight);
    tile += weight;
  }
  const double factor = before == top       ? 1.0
                        : before == kNegInf ? 0.0
                                            : exp2Negative(splat<vd>(before - top))[0];
  total = total * factor + sum(tile);
  return factor;
}

}  // namespace
}  // namespace dcpscope::DCPSCOPE_ISA
