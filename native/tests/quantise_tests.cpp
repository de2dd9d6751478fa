#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "core/hash.h"
#include "core/quantise.h"
#include "tests/expect.h"
#include "tests/tests.h"

namespace dcpscope::tests {
namespace {

constexpr int kLargestCode = 0x7e;

/** Value of a finite code by the definition of the format: sign, four bits of exponent, three of mantissa. */
double defined(int code) {
  const int exponent = code >> 3 & 15;
  const int mantissa = code & 7;
  const double magnitude =
      exponent == 0 ? std::ldexp(mantissa, -9) : std::ldexp(8 + mantissa, exponent - 7 - 3);
  return (code & 0x80) != 0 ? -magnitude : magnitude;
}

/** The code whose value is nearest, by looking at all of them; of two the one with the even mantissa. */
int nearest(double magnitude) {
  int best = 0;
  for (int code = 1; code <= kLargestCode; ++code) {
    const double off = std::abs(defined(code) - magnitude) - std::abs(defined(best) - magnitude);
    if (off < 0 || (off == 0 && code % 2 == 0)) best = code;
  }
  return best;
}

void allCodesDecode() {
  for (int code = 0; code < 256; ++code) {
    const float value = fromE4m3(static_cast<uint8_t>(code));
    if ((code & 0x7f) > kLargestCode) {
      EXPECT(std::isnan(value));
      continue;
    }
    EXPECT(static_cast<double>(value) == defined(code));
    EXPECT(std::signbit(value) == ((code & 0x80) != 0));
    EXPECT(toE4m3(value) == code);
  }
  EXPECT(fromE4m3(kLargestCode) == kE4m3Max);
}

void tiesGoToEven() {
  const float inf = std::numeric_limits<float>::infinity();
  for (int code = 0; code < kLargestCode; ++code) {
    const auto middle = static_cast<float>((defined(code) + defined(code + 1)) / 2);
    const int even = code % 2 == 0 ? code : code + 1;
    for (const int sign : {0, 0x80}) {
      const float s = sign == 0 ? 1.0F : -1.0F;
      EXPECT(toE4m3(s * middle) == (even | sign));
      EXPECT(toE4m3(s * std::nextafter(middle, 0.0F)) == (code | sign));
      EXPECT(toE4m3(s * std::nextafter(middle, inf)) == ((code + 1) | sign));
    }
  }
}

void largeValuesSaturate() {
  const float inf = std::numeric_limits<float>::infinity();
  for (const float value : {448.0F, 448.1F, 464.0F, 480.0F, 1e9F, inf}) {
    EXPECT(toE4m3(value) == 0x7e);
    EXPECT(toE4m3(-value) == 0xfe);
  }
  EXPECT((toE4m3(std::numeric_limits<float>::quiet_NaN()) & 0x7f) == 0x7f);
}

void allValuesGoToTheNearestCode() {
  for (uint64_t i = 0; i < 20000; ++i) {
    const auto bits = static_cast<uint32_t>(mix64(i));
    // Exponents from far below the least subnormal to far above the largest value.
    const auto value = std::bit_cast<float>((bits & 0x807fffffU) | (112U + (bits >> 8) % 26U) << 23);
    const int sign = std::signbit(value) ? 0x80 : 0;
    EXPECT(toE4m3(value) == (nearest(std::abs(static_cast<double>(value))) | sign));
  }
}

void fp8ScaleCoversGeneratedKeys() {
  EXPECT(std::abs(fp8Scale(false) * 448 - 3.46) < 1e-5);
  EXPECT(std::abs(fp8Scale(true) * 448 - 11.46) < 1e-5);
}

std::vector<uint16_t> someRow(uint64_t seed, float spread) {
  std::vector<uint16_t> row(dsmla::kLatent + dsmla::kRope);
  for (size_t d = 0; d < row.size(); ++d) {
    const auto at = static_cast<float>(mix64(seed * 1000 + d) % 20001) / 10000.0F - 1.0F;
    row[d] = toBf16(at * spread);
  }
  return row;
}

void dsMlaRowsAreAsDefined() {
  for (const float spread : {3.0F, 1e-6F, 0.0F, 5000.0F}) {
    const std::vector<uint16_t> values = someRow(static_cast<uint64_t>(spread) + 1, spread);
    alignas(16) uint8_t row[dsmla::kRowBytes];
    dsmla::quantise(values.data(), row);
    for (int g = 0; g < 4; ++g) {
      double amax = 0;
      for (int i = 0; i < 128; ++i)
        amax =
            std::max(amax, std::abs(static_cast<double>(fromBf16(values[static_cast<size_t>(g * 128 + i)]))));
      float scale;
      std::memcpy(&scale, row + 512 + 4 * g, 4);
      EXPECT(scale == static_cast<float>(std::max(amax, static_cast<double>(1e-4F)) / 448.0));
      for (int i = 0; i < 128; ++i) {
        const int d = g * 128 + i;
        const float value = fromBf16(values[static_cast<size_t>(d)]);
        const double scaled = static_cast<double>(static_cast<float>(static_cast<double>(value) / scale));
        const int sign = std::signbit(value) ? 0x80 : 0;
        EXPECT(row[d] == (nearest(std::abs(scaled)) | sign));
        const auto wide = static_cast<float>(defined(row[d]) * static_cast<double>(fromBf16(toBf16(scale))));
        EXPECT(dsmla::value(row[d], scale) == fromBf16(toBf16(wide)));
      }
    }
    EXPECT(std::memcmp(row + 528, values.data() + 512, 128) == 0);
  }
}

void fp8RowsAreAsDefined() {
  const std::vector<uint16_t> values = someRow(9, 3.4F);
  uint8_t row[576];
  const float scale = fp8Scale(false);
  quantiseFp8(values.data(), 576, scale, row);
  for (int d = 0; d < 576; ++d) {
    const float value = fromBf16(values[static_cast<size_t>(d)]);
    const double scaled = static_cast<double>(static_cast<float>(static_cast<double>(value) / scale));
    EXPECT(row[d] == (nearest(std::abs(scaled)) | (std::signbit(value) ? 0x80 : 0)));
  }
}

}  // namespace

void quantising() {
  allCodesDecode();
  tiesGoToEven();
  largeValuesSaturate();
  allValuesGoToTheNearestCode();
  fp8ScaleCoversGeneratedKeys();
  dsMlaRowsAreAsDefined();
  fp8RowsAreAsDefined();
}

}  // namespace dcpscope::tests
