#include "core/generate.h"

#include "core/simd.h"

namespace dcpscope::DCPSCOPE_ISA {
namespace {

/** A hash per lane; `lo` and `hi` are the halves of the row's hash, `at` the dimensions. */
inline vu hashLanes(vu at, uint32_t lo, uint32_t hi) {
  vu x = (at * 0x9e3779b1U) ^ lo;
  x ^= x >> 16;
  x *= 0x7feb352dU;
  x ^= (x >> 15) ^ hi;
  x *= 0x846ca68bU;
  return x ^ (x >> 16);
}

/** Sum of four bytes, centred, at unit variance: 4 * (256^2 - 1) / 12 = 147.8...^2. */
inline vf unitValue(vu hash) {
  const vu pairs = (hash & 0x00ff00ffU) + ((hash >> 8) & 0x00ff00ffU);
  const vu total = (pairs + (pairs >> 16)) & 0xffffU;
  return __builtin_convertvector(bits<vi>(total) - 510, vf) * 0.00676587F;
}

template <class T>
void generateRow(const RowSpec& spec, int n, T* out) {
  vu at;
  for (int i = 0; i < kLanes; ++i) at[i] = static_cast<uint32_t>(i);
  const auto lo = static_cast<uint32_t>(spec.hash);
  const auto hi = static_cast<uint32_t>(spec.hash >> 32);
  const auto signLo = static_cast<uint32_t>(spec.direction);
  const auto signHi = static_cast<uint32_t>(spec.direction >> 32);
  const vu amplitude = bits<vu>(splat<vf>(spec.amplitude));
  const bool plain = spec.amplitude == 0.0F;
  for (int d = 0; d < n; d += kLanes, at += static_cast<uint32_t>(kLanes)) {
    vf value = unitValue(hashLanes(at, lo, hi));
    if (!plain) value += bits<vf>(amplitude ^ (hashLanes(at, signLo, signHi) & 0x80000000U));
    storeFloat(out + d, value);
  }
}

}  // namespace

extern const GenerateKernels generateKernels;
const GenerateKernels generateKernels{generateRow<float>, generateRow<uint16_t>};

}  // namespace dcpscope::DCPSCOPE_ISA
