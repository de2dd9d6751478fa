#pragma once
#include <cstdint>

#include "core/quantise.h"
#include "core/simd.h"

/**
 * Rows of a pool as floats, by type of the cache: the first `n` values of a row, all of them or those that
 * are values too. `Query` is the type of the query rows that go with them.
 */
namespace dcpscope::DCPSCOPE_ISA {
namespace {

struct Fp32Rows {
  using Query = float;
  static void widen(const unsigned char* row, int n, float* to) {
    __builtin_memcpy(to, row, sizeof(float) * static_cast<size_t>(n));
  }
};

struct Bf16Rows {
  using Query = uint16_t;
  static void widen(const unsigned char* row, int n, float* to) {
    const auto* values = reinterpret_cast<const uint16_t*>(row);
    for (int d = 0; d < n; d += kLanes) store(to + d, DCPSCOPE_ISA::widen(load<vh>(values + d)));
  }
};

/** Codes as they are: the scale of the cache is part of the softmax scale and of the output. */
struct Fp8Rows {
  using Query = uint16_t;
  static void widen(const unsigned char* row, int n, float* to) {
    for (int d = 0; d < n; ++d) to[d] = fromE4m3(row[d]);
  }
};

struct DsMlaRows {
  using Query = uint16_t;
  static void widen(const unsigned char* row, int n, float* to) {
    for (int g = 0; g < dsmla::kGroups; ++g) {
      float scale;
      __builtin_memcpy(&scale, row + dsmla::kScalesAt + 4 * g, sizeof(scale));
      const unsigned char* codes = row + g * dsmla::kGroup;
      for (int i = 0; i < dsmla::kGroup; ++i) to[g * dsmla::kGroup + i] = dsmla::value(codes[i], scale);
    }
    if (n > dsmla::kLatent) Bf16Rows::widen(row + dsmla::kRopeAt, n - dsmla::kLatent, to + dsmla::kLatent);
  }
};

}  // namespace
}  // namespace dcpscope::DCPSCOPE_ISA
