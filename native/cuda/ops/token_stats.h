#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

/** Statistics of the rows of one token in a rank's partial: what they say, and how kernels take them. */
namespace dcpscope::cuda {

/** What the rows of one token hold, as the kernel left them: before rows without keys are made neutral. */
struct TokenStats {
  int32_t outNan;
  int32_t outInf;
  /** Largest finite magnitude. */
  float outAbsmax;
  int32_t lseNan;
  /** NaN when every lse is NaN. */
  float lseMin;
  float lseMax;
};

/**
 * Statistics of one token while blocks put them together: counts are added, all else is combined by maximum,
 * and a record of zeroes has seen nothing.
 */
struct StatsRecord {
  uint32_t outNan;
  uint32_t outInf;
  /** Bits of the largest finite magnitude. */
  uint32_t outMost;
  uint32_t lseNan;
  /** Complement of the order key of the least lse, order key of the largest; NaN has none. */
  uint32_t lseLow;
  uint32_t lseHigh;
};

/** The number whose order key this is. Keys order like numbers, -inf and inf among them, and are never 0 or
 * ~0. */
inline float fromOrderKey(uint32_t key) {
  constexpr uint32_t sign = 0x80000000U;
  return std::bit_cast<float>((key & sign) != 0 ? key ^ sign : ~key);
}

inline TokenStats decode(const StatsRecord& record) {
  return {static_cast<int32_t>(record.outNan),
          static_cast<int32_t>(record.outInf),
          std::bit_cast<float>(record.outMost),
          static_cast<int32_t>(record.lseNan),
          record.lseLow == 0 ? NAN : fromOrderKey(~record.lseLow),
          record.lseHigh == 0 ? NAN : fromOrderKey(record.lseHigh)};
}

}  // namespace dcpscope::cuda
