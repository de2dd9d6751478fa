#pragma once
#include <cstdint>

/**
 * Attention in double precision over rows that somebody gives, as they are: what tensors from elsewhere are
 * compared with. Any widths; nothing is regenerated.
 */
namespace dcpscope {

/** Heads of one call and keys of one tile. */
constexpr int kAttendHeads = 16;
constexpr int kAttendTile = 32;

/** Some heads of one query row that share a key head, over consecutive tokens. */
struct AttendTask {
  /** Row of each head, [keyDim]. */
  const double* q[kAttendHeads];
  int heads;
  int keyDim;
  int valueDim;
  /** Row of the first token; further ones lie keyStride (valueStride) doubles apart. */
  const double* keys;
  int64_t keyStride;
  const double* values;
  int64_t valueStride;
  int64_t tokens;
  /** softmax scale * log2(e). */
  double scale2;
};

/** Doubles between two rows of `AttendPartial::acc`. */
constexpr int attendStride(int width) { return (width + 15) / 16 * 16; }

/** Not normalised: acc [heads][attendStride(valueDim)] = sum of 2^(s - top) * value, base-2 scores. */
struct AttendPartial {
  double* acc;
  double top[kAttendHeads];
  double total[kAttendHeads];
};

/** Doubles of working memory for one call. */
constexpr int64_t attendScratch(int keyDim, int valueDim) {
  return static_cast<int64_t>(kAttendHeads + kAttendTile) * (attendStride(keyDim) + 8) +
         static_cast<int64_t>(kAttendTile) * (attendStride(valueDim) + 8) + kAttendHeads * kAttendTile;
}

struct AttendKernels {
  void (*attend)(const AttendTask& task, double* scratch, AttendPartial& out);
};

}  // namespace dcpscope
