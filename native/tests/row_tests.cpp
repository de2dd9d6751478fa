#include <cmath>
#include <limits>
#include <vector>

#include "core/bf16.h"
#include "cpu/kernels.h"
#include "tests/expect.h"
#include "tests/tests.h"

namespace dcpscope::tests {
namespace {

constexpr int kValues = 48;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

/** A row of one value, in fp32 or as bf16 bits. */
std::vector<float> rowOf(float value, bool bf16) {
  std::vector<float> row(kValues, value);
  if (!bf16) return row;
  auto* half = reinterpret_cast<uint16_t*>(row.data());
  for (int i = 0; i < kValues; ++i) half[i] = toBf16(value);
  return row;
}

float valueOf(const std::vector<float>& row, bool bf16, size_t at) {
  return bf16 ? fromBf16(reinterpret_cast<const uint16_t*>(row.data())[at]) : row[at];
}

/** A weight of 0 drops what a row holds, or leaves NaN of what is no number. */
void weightZero(bool fromBf16Bits, bool toBf16Bits) {
  const RowKernels& rows = kernels().rows;
  for (const float payload : {kNan, kInf, -kInf}) {
    const std::vector<float> from = rowOf(payload, fromBf16Bits);
    std::vector<float> to = rowOf(7, toBf16Bits);
    rows.scale(from.data(), fromBf16Bits, 0.0F, to.data(), toBf16Bits, kValues);
    for (size_t i = 0; i < kValues; ++i) EXPECT(valueOf(to, toBf16Bits, i) == 0);
    rows.multiply(from.data(), fromBf16Bits, 0.0F, to.data(), toBf16Bits, kValues);
    for (size_t i = 0; i < kValues; ++i) EXPECT(std::isnan(valueOf(to, toBf16Bits, i)));
    const std::vector<float> other = rowOf(2, fromBf16Bits);
    const void* both[] = {from.data(), other.data()};
    const float weights[] = {0.0F, 0.5F};
    rows.merge({both, weights, 2, fromBf16Bits}, to.data(), toBf16Bits, kValues);
    for (size_t i = 0; i < kValues; ++i) EXPECT(valueOf(to, toBf16Bits, i) == 1);
    rows.merge({both, weights, 2, fromBf16Bits, true}, to.data(), toBf16Bits, kValues);
    for (size_t i = 0; i < kValues; ++i) EXPECT(std::isnan(valueOf(to, toBf16Bits, i)));
  }
}

/** Numbers are the same either way. */
void multipliesNumbers(bool fromBf16Bits, bool toBf16Bits) {
  const std::vector<float> from = rowOf(-3, fromBf16Bits);
  for (const float weight : {0.0F, 0.25F, 1.0F}) {
    std::vector<float> to = rowOf(7, toBf16Bits);
    kernels().rows.multiply(from.data(), fromBf16Bits, weight, to.data(), toBf16Bits, kValues);
    for (size_t i = 0; i < kValues; ++i) EXPECT(valueOf(to, toBf16Bits, i) == -3 * weight);
  }
}

}  // namespace

void rows() {
  for (const bool from : {false, true})
    for (const bool to : {false, true}) {
      weightZero(from, to);
      multipliesNumbers(from, to);
    }
}

}  // namespace dcpscope::tests
