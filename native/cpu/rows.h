#pragma once
#include <cstdint>

/** Work on single rows of `n` values (a multiple of 16) that are floats or bf16 bits, as `bf16` says. */
namespace dcpscope {

struct RowStats {
  int32_t nan = 0;
  int32_t inf = 0;
  /** Largest finite magnitude. */
  float absmax = 0;
};

/** Sum of weighted rows: row i is `rows[i]`. Weight 0 leaves it out whatever it holds, unless `all` are
 * multiplied. */
struct WeightedRows {
  const void* const* rows;
  const float* weights;
  int count;
  bool bf16;
  bool all = false;
};

constexpr int kMaxAddends = 64;

struct RowKernels {
  /** Adds to `stats` what the row holds. */
  void (*stats)(const void* row, bool bf16, int n, RowStats& stats);
  /** to = from * weight, rounded to the type of `to`; weight 0 gives zeros whatever `from` holds. */
  void (*scale)(const void* from, bool fromBf16, float weight, void* to, bool toBf16, int n);
  /** The same, but what is no number stays so also with weight 0. */
  void (*multiply)(const void* from, bool fromBf16, float weight, void* to, bool toBf16, int n);
  /** to = sum of at most kMaxAddends rows, pair by pair (recursive halving), each rounded to the rows' own
   * type. */
  void (*add)(const void* const* rows, int count, bool bf16, void* to, bool toBf16, int n);
  /** to = weighted sum in fp32, rounded once. */
  void (*merge)(const WeightedRows& from, void* to, bool toBf16, int n);
  /** to += from * weight in fp32. */
  void (*addScaled)(const float* from, float weight, float* to, int n);
};

}  // namespace dcpscope
